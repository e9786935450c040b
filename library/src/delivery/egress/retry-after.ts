const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = MONTHS.join("|");
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;

// The three forms of HTTP. `Date.parse` takes many more, and reads those without a zone in the zone of the machine.
const FORMS = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>${MONTH}) (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>${MONTH})-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>${MONTH}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Milliseconds to wait by a `Retry-After` header: seconds, or a date less `nowMs`; 0 for a date that has passed.
 * Undefined where the header is absent or is neither. Whoever uses it clamps it: a receiver may ask for a century.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const at = parseHttpDate(text, nowMs);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}

/** Milliseconds since 1970 of a date in one of HTTP's three forms; `nowMs` says the century of years of two digits. */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return instantOf(parts, nowMs);
  }
  return undefined;
}

function instantOf(parts: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const part = (name: string): number => Number(parts[name]);
  const [day, hour, minute] = [part("day"), part("hour"), part("minute")];
  // A leap second is the last second of its minute: `Date` knows none.
  const second = Math.min(part("second"), 59);
  if (part("second") > 60) return undefined;
  const month = MONTHS.indexOf(parts["month"] ?? "");
  const year = parts["year"]?.length === 2 ? fullYear(part("year"), nowMs) : part("year");
  const at = new Date(0);
  at.setUTCFullYear(year, month, day);
  at.setUTCHours(hour, minute, second);
  // 30 February would silently become 2 March.
  const same = at.getUTCDate() === day && at.getUTCHours() === hour && at.getUTCMinutes() === minute;
  return same ? at.getTime() : undefined;
}

/** RFC 9110: a year of two digits that seems more than 50 years ahead is the last past one with these digits. */
function fullYear(digits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}
