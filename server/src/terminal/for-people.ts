// Numbers and instants as people say them. `--json` has them exact.

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** `850 ms`, `4.2 s`, `3 min 20 s`, `2 d 4 h`: at most two units. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  const words: string[] = [];
  let rest = ms;
  for (const [unit, unitMs] of UNITS) {
    const whole = Math.floor(rest / unitMs);
    rest -= whole * unitMs;
    // Only neighbouring units: "2 d 5 min" would hide that there are no hours.
    if (whole > 0 || words.length > 0) words.push(whole > 0 ? `${whole} ${unit}` : "");
  }
  return words
    .slice(0, 2)
    .filter((word) => word !== "")
    .join(" ");
}

/** `12 s ago`, `in 3 min`, `just now`; the instant itself where it cannot be read. */
export function relative(instant: string | null | undefined, nowMs: number): string {
  if (instant === null || instant === undefined) return "–";
  const at = Date.parse(instant);
  if (Number.isNaN(at)) return instant;
  const passedMs = nowMs - at;
  if (Math.abs(passedMs) < 1000) return "just now";
  const unit = coarse(Math.abs(passedMs));
  return passedMs > 0 ? `${unit} ago` : `in ${unit}`;
}

/** When something is due, from a number of milliseconds. */
export function due(inMs: number | null | undefined): string {
  if (inMs === null || inMs === undefined) return "–";
  return inMs <= 0 ? "now" : `in ${duration(inMs)}`;
}

/** `812 B`, `1.4 KiB`, `3 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${trimmed(value)} ${units[unit] ?? ""}`;
}

/** `1 lane`, `2,140 lanes`. */
export function count(number: number | bigint, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 || number === 1n ? one : many}`;
}

function coarse(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= each) ?? ["s", 1000];
  return `${Math.floor(ms / unitMs)} ${unit}`;
}

function trimmed(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
}
