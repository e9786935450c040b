// Crockford's alphabet: no letter that is read as a digit, and the order of the texts is that of the numbers.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

// Filled for many ids at once: a request to the system for each costs more than all the rest of an id. As one text, of
// which each id takes its part: an id put together letter by letter is copied again by every database driver.
const POOL_CHARACTERS = RANDOM_CHARACTERS * 256;
const random = new Uint8Array(POOL_CHARACTERS);
let pool = "";
let used = POOL_CHARACTERS;
let lastMs = -1;
let lastTime = "";

/**
 * A new id: the prefix, the time, and 80 random bits. Ids of one moment lie beside each other, so that whoever keeps
 * them in an index writes to its end; within a millisecond their order means nothing.
 */
export function newId(prefix: string, nowMs: number): string {
  if (used === POOL_CHARACTERS) refill();
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastTime = timeText(nowMs);
  }
  const from = used;
  used += RANDOM_CHARACTERS;
  return `${prefix}_${lastTime}${pool.slice(from, used)}`;
}

/** When an id of {@link newId} was made, in milliseconds; undefined for any other text. */
export function timeOfId(id: string): number | undefined {
  const [, time] = MADE.exec(id) ?? [];
  if (time === undefined) return undefined;
  let ms = 0;
  for (const character of time) ms = ms * 32 + ALPHABET.indexOf(character);
  return ms;
}

/** The text with which every id of this prefix begins that was made at this time; ids of later times sort after it. */
export function idAt(prefix: string, ms: number): string {
  return `${prefix}_${timeText(Math.max(0, ms))}`;
}

const MADE = /^[a-z]{1,8}_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/;

function refill(): void {
  crypto.getRandomValues(random);
  pool = "";
  for (const byte of random) pool += ALPHABET.charAt(byte & 31);
  used = 0;
}

function timeText(ms: number): string {
  let text = "";
  for (let rest = Math.floor(ms), n = 0; n < TIME_CHARACTERS; n++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
