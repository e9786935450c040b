import { checkHmacOptions } from "../hmac-options.js";
import type { HmacOptions } from "../hmac-options.js";
import type { DescribedScheme } from "../scheme.js";
import type { VerifierOptions } from "../verifier.js";
import { schemeOf } from "./hmac.js";

/** What a description cannot know of a provider: what to paste, and who confirms it. The rest replaces the defaults. */
export type ProviderFacts = Pick<DescribedScheme, "secret" | "evidence"> & Partial<DescribedScheme>;

/** The scheme of a provider that `hmac` could verify too, with what the docs tell of it. */
export function describeHmac(
  description: Omit<HmacOptions, keyof VerifierOptions>,
  facts: ProviderFacts,
): DescribedScheme {
  return Object.freeze({ ...schemeOf(checkHmacOptions(description)), ...facts });
}
