import { TEST_SECRETS } from "posthorn/testing";
import type { ProviderName } from "posthorn/testing";
import { nearest } from "../nearest.js";
import { CommandFailure } from "../terminal/failure.js";

/** The provider that a person names; `lemon-squeezy` is meant as `lemon_squeezy`. */
export function providerOf(name: string): ProviderName {
  const wanted = name.toLowerCase().replaceAll("-", "_");
  if (Object.hasOwn(TEST_SECRETS, wanted)) return wanted as ProviderName;
  const names = Object.keys(TEST_SECRETS);
  const near = nearest(wanted, names);
  throw new CommandFailure("usage", `There is no provider "${name}".`, {
    cure: near === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${near}?`,
    code: "provider_unknown",
  });
}
