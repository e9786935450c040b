import type { ProviderName, SignedRequestOptions, TestRequest } from "posthorn/testing";
import { nearest } from "../../nearest.js";
import { CommandFailure } from "../../terminal/failure.js";

// `posthorn/testing` is imported late: loading it would be most of the start of every other command.

/** A signed sample of a provider's request. */
export async function sampleRequest(
  provider: ProviderName,
  options: SignedRequestOptions,
): Promise<TestRequest> {
  const { signedRequest } = await import("posthorn/testing");
  return signedRequest(provider, options);
}

/** The fields of a source that accepts the public test secret, with which `posthorn trigger` signs. */
export async function testSourceOf(
  scheme: string,
): Promise<{ readonly secrets: readonly string[]; readonly options?: { readonly webhookId: string } }> {
  const { TEST_SECRETS, TEST_WEBHOOK_ID } = await import("posthorn/testing");
  if (Object.hasOwn(TEST_SECRETS, scheme)) {
    const secrets = [TEST_SECRETS[scheme as ProviderName].verifying];
    // PayPal signs the webhook's id too.
    return scheme === "paypal" ? { secrets, options: { webhookId: TEST_WEBHOOK_ID } } : { secrets };
  }
  throw new CommandFailure("usage", `There is no test secret for the scheme "${scheme}".`, {
    cure: `There is one for ${Object.keys(TEST_SECRETS).join(", ")}; give another with --secret.`,
  });
}

/** The provider that a person names; `lemon-squeezy` is meant as `lemon_squeezy`. */
export async function providerOf(name: string): Promise<ProviderName> {
  const { TEST_SECRETS } = await import("posthorn/testing");
  const wanted = name.toLowerCase().replaceAll("-", "_");
  if (Object.hasOwn(TEST_SECRETS, wanted)) return wanted as ProviderName;
  const names = Object.keys(TEST_SECRETS);
  const near = nearest(wanted, names);
  throw new CommandFailure("usage", `There is no provider "${name}".`, {
    cure: near === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${near}?`,
    code: "provider_unknown",
  });
}
