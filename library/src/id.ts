// Crockford's alphabet: no letter that is read as a digit, and the order of the texts is that of the numbers.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 16;

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
  let random = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))
    random += ALPHABET.charAt(byte & 31);
  return `${prefix}_${time}${random}`;
}
