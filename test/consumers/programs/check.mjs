// What every consumer does, in one program for every runtime: only globals of the web, so that a runtime without
// Node's runs all of it too. Each check is named by its promise, and throws when the promise is broken.
import * as whole from "posthorn";
import * as providers from "posthorn/providers";
import {
  createSigner,
  generateKeyPair,
  generateSecret,
  isPosthornError,
  keySetFromJwks,
  PosthornError,
  readEvents,
  sign,
  signSync,
  standardWebhooks,
  verify,
  verifySync,
} from "posthorn/verify";

/** @typedef {"works" | "sync_unavailable"} Sync whether this build has synchronous cryptography */

const body = new TextEncoder().encode('{"type":"invoice.paid","data":{"amount":"12,00 €"}}');
const event = { id: "evt_1", body };

/** @type {Readonly<Record<string, (sync: Sync) => Promise<void> | void>>} */
export const checks = {
  "a v1 signature that we made is accepted": async () => {
    const secret = generateSecret();
    await roundTrip(secret, secret);
  },
  "a v1a signature that we made is accepted": async () => {
    const { signingKey, publicKey } = await generateKeyPair();
    await roundTrip(signingKey, publicKey);
  },
  "a stamp survives the way with its bigint sequence": async () => {
    const secrets = generateSecret();
    const lane = { generation: 1n, key: "müller/7", sequence: 9_007_199_254_740_993n, after: undefined };
    const headers = await sign(createSigner({ secrets }), {
      ...event,
      stamp: { lane, attempt: 2, replay: true },
    });
    const { stamp } = await verify(standardWebhooks({ secrets, requireOrder: true }), { headers, body });
    equal(stamp?.lane?.sequence, lane.sequence);
    equal(stamp?.lane?.key, lane.key);
    equal(stamp?.replay, true);
  },
  "a key of a JWKS document is accepted": async () => {
    const { signingKey, publicKey } = await generateKeyPair();
    const x = publicKey.slice("whpk_".length).replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
    const keys = keySetFromJwks({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "k1", x }] });
    const headers = await sign(createSigner({ secrets: signingKey }), event);
    equal((await verify(standardWebhooks({ keys }), { headers, body })).key, "k1");
  },
  "a changed body is refused with a code": async () => {
    const secrets = generateSecret();
    const headers = await sign(createSigner({ secrets }), event);
    const changed = body.slice();
    changed[0] = 0;
    const error = await refusal(verify(standardWebhooks({ secrets }), { headers, body: changed }));
    equal(isPosthornError(error) && error.code, "signature_mismatch");
    equal(error instanceof PosthornError && error instanceof Error, true);
  },
  "a v1a signature of another pair is refused": async () => {
    const [ours, theirs] = [await generateKeyPair(), await generateKeyPair()];
    const headers = await sign(createSigner({ secrets: theirs.signingKey }), event);
    const error = await refusal(verify(standardWebhooks({ secrets: ours.publicKey }), { headers, body }));
    equal(isPosthornError(error) && error.code, "signature_mismatch");
  },
  "a damaged v1a entry does not hide the right one beside it": async () => {
    const { signingKey, publicKey } = await generateKeyPair();
    const headers = { ...(await sign(createSigner({ secrets: signingKey }), event)) };
    // WebCrypto in workerd throws on an Ed25519 signature that is not 64 bytes long, where others say false.
    headers["webhook-signature"] = `v1a,AAAA ${headers["webhook-signature"]}`;
    equal((await verify(standardWebhooks({ secrets: publicKey }), { headers, body })).keyIndex, 0);
  },
  "the headers of a Headers object are found": async () => {
    const secrets = generateSecret();
    const headers = new Headers(await sign(createSigner({ secrets }), event));
    equal((await verify(standardWebhooks({ secrets }), { headers, body })).keyIndex, 0);
  },
  "the synchronous form agrees, or says that there is none": async (sync) => {
    const secrets = generateSecret();
    const signer = createSigner({ secrets });
    const at = new Date();
    const headers = await sign(signer, { ...event, at });
    const verifier = standardWebhooks({ secrets });
    if (sync === "works") {
      equal(signSync(signer, { ...event, at })["webhook-signature"], headers["webhook-signature"]);
      equal(verifySync(verifier, { headers, body }).keyIndex, 0);
      return;
    }
    /** @type {(() => unknown)[]} */
    const calls = [() => signSync(signer, event), () => verifySync(verifier, { headers, body })];
    for (const call of calls) {
      const error = await refusal(Promise.resolve().then(call));
      equal(isPosthornError(error) && error.code, "sync_unavailable");
    }
  },
  "the doors share their classes and functions": () => {
    equal(whole.PosthornError, PosthornError);
    equal(whole.verify, verify);
    equal(typeof whole.ERROR_CODES.signature_mismatch, "string");
    equal(providers.standardWebhooks, standardWebhooks);
  },
};

/** @param {string} signingSecret @param {string} verifyingSecret */
async function roundTrip(signingSecret, verifyingSecret) {
  const headers = await sign(createSigner({ secrets: signingSecret }), event);
  const verified = await verify(standardWebhooks({ secrets: verifyingSecret }), { headers, body });
  const [read] = readEvents(verified);
  equal(read?.id, event.id);
  equal(read?.type, "invoice.paid");
}

/** @param {Promise<unknown>} promise */
async function refusal(promise) {
  const outcome = await promise.then(
    () => ({ error: undefined }),
    (/** @type {unknown} */ error) => ({ error }),
  );
  if (outcome.error === undefined) throw new Error("was accepted");
  return outcome.error;
}

/** @param {unknown} found @param {unknown} expected */
function equal(found, expected) {
  if (!Object.is(found, expected)) throw new Error(`found ${String(found)}, expected ${String(expected)}`);
}
