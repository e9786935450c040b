import type { Refusal } from "../scheme.js";
import type { Variant } from "./variant.js";

const HALF_HOUR_S = 1800;
const WIDEST_ZONE_S = 14 * 3600;

/** What a signed time that is too far away means, if everything else about the request is right. */
export function* clockVariants({ error, request, verifier }: Refusal): Generator<Variant> {
  const skewS = error.detail["skewS"];
  const nowS = Math.floor(verifier.clock.now() / 1000);
  if (typeof skewS !== "number") return;
  yield {
    says: `Everything but the time is right, so the sender holds the secret. ${cure(skewS, nowS)}`,
    request,
  };
}

/** What a time that cannot be read looks like. */
export function timeFacts({ error, verifier }: Refusal): readonly string[] {
  const { found } = error.detail;
  const nowS = verifier.clock.now() / 1000;
  if (typeof found !== "string") return [];
  if (/^\d{13}$/.test(found) && isNear(Number(found) / 1000, nowS)) {
    return ["The time is in milliseconds, where this scheme has seconds: the sender must divide it by 1000."];
  }
  if (/^\d{10}\.\d+$/.test(found)) return ["The time has a fraction: the sender must send whole seconds."];
  if (/^\d{4}-\d\d-\d\d/.test(found))
    return ["The time is a date, where this scheme has a number of seconds."];
  return [];
}

function cure(skewS: number, nowS: number): string {
  const offS = Math.abs(skewS);
  // Read as milliseconds, a time in seconds lies in January 1970.
  if (isNear((nowS - skewS) * 1000, nowS))
    return "The time is in seconds, where this scheme has milliseconds.";
  const zones = Math.round(offS / HALF_HOUR_S);
  if (zones > 0 && offS <= WIDEST_ZONE_S && Math.abs(offS - zones * HALF_HOUR_S) <= 60) {
    const hours = `${zones / 2} h`;
    return `It is off by almost exactly ${hours}: one of the two clocks shows local time, set as if it were UTC.`;
  }
  return skewS > 0
    ? `Either it is an old request that was sent again, or this machine's clock is ${offS} s ahead.`
    : `This machine's clock is ${offS} s behind, or the sender's is ahead: check NTP.`;
}

function isNear(seconds: number, nowS: number): boolean {
  return Math.abs(seconds - nowS) < 366 * 86_400;
}
