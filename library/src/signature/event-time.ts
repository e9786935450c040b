// When an event happened is for people and for order within a source; what cannot be read is undefined,
// never "Invalid Date", which throws only when somebody prints it.

// Discord and WorkOS leave the zone out and mean UTC; `new Date` would take this machine's own zone.
const WITHOUT_ZONE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)$/;

/** The time of a text, as ISO 8601 (without a zone: UTC) or an HTTP date. */
export function textTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  // Most have one; to look for the pattern takes longer than to read the time.
  return checked(new Date(text.endsWith("Z") ? text : text.replace(WITHOUT_ZONE, "$1T$2Z")));
}

/** The time of a number of unix seconds or milliseconds. */
export function unixTime(value: unknown, unit: "s" | "ms" = "s"): Date | undefined {
  return typeof value === "number" ? checked(new Date(unit === "s" ? value * 1000 : value)) : undefined;
}

function checked(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
