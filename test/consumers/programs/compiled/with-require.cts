// CommonJS in the words of TypeScript.
import posthorn = require("posthorn");
import verifying = require("posthorn/verify");

const verifier: verifying.Verifier = posthorn.standardWebhooks({ secrets: "whsec_new" });

const judge = (request: verifying.SignedRequest): string => posthorn.verifySync(verifier, request).key;

export = judge;
