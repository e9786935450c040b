import { PosthornError } from "../../posthorn-error.js";
import type { Key, Period } from "./key.js";
import type { SignatureErrorCode } from "../signature-errors.js";

/** The keys that count now: a certificate's key may have leaked or been given up once its time is over. Throws when none does. */
export function keysInPeriod(keys: readonly Key[], nowMs: number): readonly Key[] {
  const valid = keys.filter(({ period }) => period === undefined || includes(period, nowMs));
  if (valid.length > 0 || keys.length === 0) return valid;
  const periods = keys.map(
    ({ name, period }) => `${name}: ${period === undefined ? "always" : describe(period)}`,
  );
  throw new PosthornError<SignatureErrorCode>(
    "key_out_of_period",
    `No given key is valid now (${periods.join("; ")}). Hand in the provider's current certificate, and check this machine's clock.`,
    { detail: { keys: keys.map((key) => key.name) } },
  );
}

function includes({ fromMs, untilMs }: Period, nowMs: number): boolean {
  return nowMs >= fromMs && nowMs <= untilMs;
}

function describe({ fromMs, untilMs }: Period): string {
  return `${new Date(fromMs).toISOString()} to ${new Date(untilMs).toISOString()}`;
}
