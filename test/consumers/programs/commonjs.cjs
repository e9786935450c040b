"use strict";
// An application that was never turned into modules: require() of a package that is only modules.
const whole = require("posthorn");
const {
  createSigner,
  generateKeyPair,
  sign,
  signSync,
  standardWebhooks,
  verify,
  verifySync,
} = require("posthorn/verify");

async function main() {
  const { signingKey, publicKey } = await generateKeyPair();
  const signer = createSigner({ secrets: signingKey });
  const body = Buffer.from("{}");
  const verifier = standardWebhooks({ secrets: publicKey });
  const later = await verify(verifier, { headers: await sign(signer, { id: "evt_1", body }), body });
  const now = verifySync(verifier, { headers: signSync(signer, { id: "evt_2", body }), body });
  const imported = await import("posthorn");
  const found = {
    verified: [later.key, now.key],
    // Two instances would mean two classes of error in one process.
    oneInstance: imported.PosthornError === whole.PosthornError && imported.verify === verify,
  };
  console.log(`posthorn-consumer ${JSON.stringify(found)}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
