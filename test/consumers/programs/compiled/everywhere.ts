// Compiles where a consumer has nothing but the language: neither DOM nor @types/node.
import {
  createSigner,
  isPosthornError,
  PosthornError,
  readEvents,
  sign,
  standardWebhooks,
  verify,
  verifySync,
} from "posthorn/verify";
import type { Event, SignatureErrorCode, Signal, SignedRequest, Verifier } from "posthorn/verify";

const verifier: Verifier = standardWebhooks({
  secrets: [{ name: "new", secret: "whsec_new" }, "whsec_old"],
  observer: (signal: Signal) => signal.kind,
});

export async function receive(request: SignedRequest): Promise<readonly Event[]> {
  const verified = await verify(verifier, request);
  const place: number = verified.keyIndex;
  const sequence: bigint | undefined = verified.stamp?.lane?.sequence;
  return place >= 0 && sequence !== 0n ? readEvents(verified, "shop") : [];
}

export function isForged(error: unknown): boolean {
  const code: SignatureErrorCode = "signature_mismatch";
  return (isPosthornError(error) && error.code === code) || error instanceof PosthornError;
}

export async function send(body: Uint8Array): Promise<string | undefined> {
  const headers = await sign(createSigner({ secrets: "whsec_new" }), { id: "evt_1", body });
  verifySync(verifier, { headers, body });
  return headers["webhook-signature"];
}

// Were the package's types not found, or `any`, the mistakes below would compile, and these lines would not.
// @ts-expect-error -- a decoded text is not what was signed
void verify(verifier, { headers: {}, body: "{}" });
// @ts-expect-error -- a verdict without a promise has no then
void verifySync(verifier, { headers: {}, body: new Uint8Array() }).then;
// @ts-expect-error -- an option that does not exist
standardWebhooks({ secret: "whsec_new" });
