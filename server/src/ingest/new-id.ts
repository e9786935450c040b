import { randomFillSync } from "node:crypto";

// Crockford's alphabet: no letter that is read as a digit, and the order of the texts is that of the numbers.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

// Filled for many ids at once: a call for each costs more than all the rest of making one.
const pool = new Uint8Array(RANDOM_CHARACTERS * 256);
let used = pool.length;
let lastMs = -1;
let lastTime = "";

/** A new id: the prefix, the time, and 80 random bits. In the order of their times, to the millisecond. */
export function newId(prefix: string, nowMs: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastTime = timeText(nowMs);
  }
  let id = `${prefix}_${lastTime}`;
  for (const end = used + RANDOM_CHARACTERS; used < end; used++)
    id += ALPHABET.charAt((pool[used] ?? 0) & 31);
  return id;
}

function timeText(ms: number): string {
  let text = "";
  for (let rest = Math.floor(ms), n = 0; n < TIME_CHARACTERS; n++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
