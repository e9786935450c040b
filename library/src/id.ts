// Crockford's alphabet: no letter that is read as a digit, and the order of the texts is that of the numbers.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 16;

// Asked for many ids at once: each request to the system costs more than all the rest of an id.
const pool = new Uint8Array(64 * RANDOM_BYTES);
let unused = 0;

/**
 * A new id: the prefix, the time, and 80 random bits. Ids of one moment lie beside each other, so that whoever keeps
 * them in an index writes to its end; their order means nothing else.
 */
export function newId(prefix: string, nowMs: number): string {
  let time = "";
  for (let rest = nowMs, n = 0; n < TIME_CHARACTERS; n++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  return `${prefix}_${time}${randomText()}`;
}

function randomText(): string {
  if (unused === 0) {
    crypto.getRandomValues(pool);
    unused = pool.length;
  }
  let random = "";
  // From the end to the front, so that no byte is used twice.
  for (let n = 0; n < RANDOM_BYTES; n++) random += ALPHABET.charAt((pool[--unused] as number) & 31);
  return random;
}
