// Figures, times and names as people read them. Pure: the time of now is an argument.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `16 ms`, `2.1 s`, `41 s`, `3 min 36 s`, `1 h 39 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${trimmed(ms / SECOND)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return pair(ms, MINUTE, SECOND, ["min", "s"]);
  if (ms < DAY) return pair(ms, HOUR, MINUTE, ["h", "min"]);
  return pair(ms, DAY, HOUR, ["d", "h"]);
}

function trimmed(value: number): string {
  return (Math.floor(value * 10) / 10).toString();
}

function pair(ms: number, large: number, small: number, units: readonly [string, string]): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? `${whole} ${units[0]}` : `${whole} ${units[0]} ${rest} ${units[1]}`;
}

/** For rows: one unit is enough. `now`, `41 s`, `3 min`, `2 h`, `5 d`. */
export function age(ms: number): string {
  if (ms < 2 * SECOND) return "now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** `41 s ago`, `in 4 min 10 s`, `now`. */
export function fromNow(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (Math.abs(ms) < 2 * SECOND) return "now";
  return ms > 0 ? `${age(ms)} ago` : `in ${duration(-ms)}`;
}

/** `07:39:01.118`, with the day where it is another: `17 Nov 07:39:01.118`. */
export function clockTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0"));
  const text = `${time.join(":")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
  return at.toDateString() === new Date(nowMs).toDateString() ? text : `${dayOf(at, nowMs)} ${text}`;
}

function dayOf(at: Date, nowMs: number): string {
  const sameYear = at.getFullYear() === new Date(nowMs).getFullYear();
  return at.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(!sameYear && { year: "numeric" }),
  });
}

/** Whole and with its zone, for a title. */
export function fullTime(atMs: number): string {
  return `${new Date(atMs).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" })} (${new Date(atMs).toISOString()})`;
}

/** `343 B`, `1.2 kB`, `3.4 MB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${trimmed(bytes / 1000)} kB`;
  return `${trimmed(bytes / 1_000_000)} MB`;
}

/** `1,204`; takes decimal texts, which may be larger than a number holds. */
export function grouped(value: number | bigint | string): string {
  return String(value).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** `1 lane`, `3 lanes`, `1 delivery`, `2 deliveries`. */
export function count(n: number | bigint, noun: string): string {
  if (n === 1 || n === 1n) return `1 ${noun}`;
  const many = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${grouped(n)} ${many}`;
}

/** `evt_7QK2…XW4T`: begin and end, by which people tell ids apart. */
export function shortId(id: string): string {
  return id.length <= 18 ? id : `${id.slice(0, 9)}…${id.slice(-4)}`;
}

/** A text that may be of any length, for one line. Characters that a reader cannot see are shown as their codes. */
export function oneLine(text: string, most = 120): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
