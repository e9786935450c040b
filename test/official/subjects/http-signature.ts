import { createHash, createPrivateKey, createPublicKey, sign as signBytes } from "node:crypto";
import { createVerifier, httpbis } from "http-message-signatures";
import { httpSignature } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import { changeBody, drawBody, drawTime, dropHeader, NOW_S } from "../changes.js";
import type { Change, Parts, Sample } from "../sample.js";
import { after, before, changeHeader } from "../sample.js";
import type { Subject } from "../subject.js";
import { ANY_LENGTH, header } from "./common-differences.js";

const INPUT = "signature-input";
const SIGNATURE = "signature";
const DIGEST = "content-digest";

// The first test key of RFC 8032.
const PRIVATE = createPrivateKey({
  format: "der",
  type: "pkcs8",
  key: Buffer.from(
    "302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "hex",
  ),
});
const PUBLIC = createPublicKey(PRIVATE).export({ format: "der", type: "spki" }).toString("base64");

/** Lists of components; `id` of the parts holds one. */
const COVERED = [
  '"@method" "@target-uri" "content-digest"',
  '"content-digest" "@target-uri"',
  '"@target-uri" "@authority" "@path" "@query" "@scheme" "content-digest" "x-event"',
];

export const HTTP_MESSAGE_SIGNATURES: Subject = {
  library: "http-message-signatures",
  verifier:
    'httpbis.verifyMessage({ keyLookup, requiredFields: ["@target-uri", "content-digest"], … }, request)',
  cases: 2000,
  // The library takes the request's own URL for the receiver's, and so does ours here.
  create: (options, { url }) =>
    httpSignature({ ...options, publicUrl: /^https?:\/\/[^/?]*/i.exec(url)?.[0] ?? url }),
  draw: (chance) => ({
    secret: PUBLIC,
    id: chance.pick(COVERED),
    time: String(drawTime(chance, 300)),
    body: drawBody(chance),
    url: chance.pick([
      "https://example.com/hooks",
      "https://example.com/hooks?a=b%20c&d",
      "https://example.com:8443/%7Ehooks/a%2fb?",
      "https://EXAMPLE.com:443",
    ]),
    method: "POST",
  }),
  change,
  sign,
  accepts: async (sample) => {
    const { secret, headers, url, method } = sample;
    const key = createPublicKey({ key: Buffer.from(secret, "base64"), format: "der", type: "spki" });
    const verdict = await httpbis.verifyMessage(
      {
        keyLookup: () => Promise.resolve({ algs: ["ed25519"], verify: createVerifier(key, "ed25519") }),
        requiredFields: ["@target-uri", "content-digest"],
        requiredParams: ["created"],
        maxAge: 300,
        notAfter: NOW_S + 300,
      },
      { method, url, headers: { ...headers } },
    );
    return verdict === true && hasDigest(sample);
  },
  differences: [
    ANY_LENGTH,
    {
      name: "accepts parameters of signatures",
      library: "accepts",
      code: "header_malformed",
      when: (sample) => /:;/.test(header(sample, SIGNATURE)),
      what: "passes over parameters behind a signature",
      why: "RFC 9421 knows none there, and no signature covers them",
    },
    {
      name: "accepts a signature in its last second",
      library: "accepts",
      code: "timestamp_out_of_range",
      when: (sample) => header(sample, INPUT).includes(`expires=${NOW_S}`),
      what: "lets a signature hold until the second of its end is over",
      why: "a signature that expires now has expired",
    },
    {
      name: "accepts times that are no whole numbers",
      library: "accepts",
      code: ["timestamp_malformed", "header_malformed"],
      when: (sample) => /(created|expires)=(?!\d+(;|$))/.test(header(sample, INPUT)),
      what: "computes with whatever `created` and `expires` are: a text, a fraction",
      why: "RFC 9421 has whole seconds; another reader may read another time",
    },
    {
      name: "accepts a component twice",
      library: "accepts",
      code: "signature_unsupported",
      when: (sample) => /("[^"]*").* \1/.test(header(sample, INPUT)),
      what: "covers a component as often as it is listed",
      why: "RFC 9421 forbids it: a component must occur once",
    },
    {
      name: "accepts a label twice",
      library: "accepts",
      code: "header_malformed",
      when: (sample) => /(sig\d=).*\1/.test(header(sample, SIGNATURE)),
      what: "takes the last of several signatures under one label",
      why: "another reader may take the first",
    },
    {
      name: "accepts sloppy base64",
      library: "accepts",
      code: "header_malformed",
      when: (sample) => /[^AQgw=](==)?:$/.test(header(sample, SIGNATURE)),
      what: "reads base64 with unused bits, so that several texts mean one signature",
      why: "one signature has one text",
    },
    {
      name: "rejects all because of one other signature",
      library: "rejects",
      when: (sample) => /\), | sig2=/.test(header(sample, INPUT)),
      what: "wants every listed signature to cover what is required, also one that a proxy added over something else",
      why: "one signature that covers all that it must is the proof",
    },
  ],
};

/** The library leaves the body to its caller. */
function hasDigest(sample: Sample): boolean {
  const digest = /sha-256=:([^:]*):/.exec(header(sample, DIGEST))?.[1] ?? "";
  return Buffer.from(digest, "base64").equals(createHash("sha256").update(sample.body).digest());
}

function valueOf(
  component: string,
  { method, url }: Parts,
  headers: Readonly<Record<string, string>>,
): string {
  const { host, protocol } = new URL(url);
  const [, path = "", query = "?"] = /^https:\/\/[^/?]+([^?]*)(\?.*)?$/.exec(url) ?? [];
  const derived: Readonly<Record<string, string>> = {
    "@method": method,
    "@target-uri": url,
    "@authority": host,
    "@path": path || "/",
    "@query": query,
    "@scheme": protocol.slice(0, -1),
  };
  return derived[component] ?? headers[component] ?? "";
}

function sign(parts: Parts): { headers: Record<string, string> } {
  const { id, time, body } = parts;
  const headers = {
    [DIGEST]: `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
    "x-event": "invoice.paid",
  };
  const input = `(${id});created=${time};keyid="test";alg="ed25519"`;
  const names = Array.from(id.matchAll(/"([^"]*)"/g), ([, name = ""]) => name);
  const lines = names.map((name) => `"${name}": ${valueOf(name, parts, headers)}`);
  const base = [...lines, `"@signature-params": ${input}`].join("\n");
  const signature = signBytes(null, Buffer.from(base), PRIVATE).toString("base64");
  return { headers: { ...headers, [INPUT]: `sig1=${input}`, [SIGNATURE]: `sig1=:${signature}:` } };
}

type Edit = readonly [name: string, apply: (value: string) => string];

const INPUT_EDITS: readonly Edit[] = [
  ["with another label", (value) => value.replace("sig1=", "sig2=")],
  ["with its label in capitals", (value) => value.replace("sig1=", "SIG1=")],
  ["with one component less", (value) => value.replace(/ "[^"]*"\)/, ")")],
  ["with one component more", (value) => value.replace(")", ' "x-event")')],
  ["with a component twice", (value) => value.replace(/\(("[^"]*")/, "($1 $1")],
  ["with components in another order", (value) => value.replace(/\(("[^"]*") ("[^"]*")/, "($2 $1")],
  ["with two spaces", (value) => value.replace('" "', '"  "')],
  ["with a space before a parameter", (value) => value.replace(";created", "; created")],
  ["with a space behind", (value) => `${value} `],
  ["without a time", (value) => value.replace(/;created=[^;]*/, "")],
  ["with another time", (value) => value.replace(/created=\d+/, `created=${NOW_S - 1}`)],
  ["with the time as a text", (value) => value.replace(/created=(\d+)/, 'created="$1"')],
  ["with another algorithm", (value) => value.replace("ed25519", "rsa-pss-sha512")],
  ["without an algorithm", (value) => value.replace(/;alg="[^"]*"/, "")],
  ["with a comma behind", (value) => `${value},`],
  ["with a second signature", (value) => `${value}, sig2=("@method");created=${NOW_S}`],
  ["cut", (value) => value.slice(0, -1)],
  ["without parentheses", (value) => value.replace(/[()]/g, "")],
];

const SIGNATURE_EDITS: readonly Edit[] = [
  ["with another label", (value) => value.replace("sig1=", "sig2=")],
  ["without colons", (value) => value.replaceAll(":", "")],
  ["without padding", (value) => value.replace(/=+:$/, ":")],
  ["with a character changed", (value) => value.replace(/(:.{8})./, (_, start: string) => `${start}A`)],
  ["with a character removed", (value) => value.replace(/(:.{8})./, "$1")],
  ["in the url-safe alphabet", (value) => value.replaceAll("+", "-").replaceAll("/", "_")],
  ["with unused bits", (value) => value.replace(/A==:$|Q==:$|g==:$|w==:$/, "B==:")],
  ["as a text", (value) => value.replace(/:([^:]*):/, '"$1"')],
  ["after a wrong one of the same label", (value) => `sig1=:${"A".repeat(86)}==:, ${value}`],
  ["before a wrong one of the same label", (value) => `${value}, sig1=:${"A".repeat(86)}==:`],
  ["before one of another label", (value) => `${value}, sig2=:${"A".repeat(86)}==:`],
  ["with parameters", (value) => `${value};a=1`],
  ["9 kB long", (value) => `${value}, sig2=:${"A".repeat(9000)}:`],
];

const DIGEST_EDITS: readonly Edit[] = [
  ["with another hash beside it", (value) => `${value}, sha-1=:AAAA:`],
  ["of another hash", (value) => value.replace("sha-256", "sha-512")],
  ["with a space behind", (value) => `${value} `],
  ["with a character changed", (value) => value.replace(/(:.{8})./, (_, start: string) => `${start}A`)],
];

function edit(chance: Chance, name: string, edits: readonly Edit[]): Change {
  const [how, apply] = chance.pick(edits);
  return changeHeader(how, name, apply);
}

function change(chance: Chance): Change {
  switch (chance.below(8)) {
    case 0:
      return changeBody(chance);
    case 1:
      return after("another URL", (sample) => ({
        ...sample,
        url: chance.pick([`${sample.url}x`, sample.url.replace("example", "evil"), sample.url.toLowerCase()]),
      }));
    case 2:
      return chance.pick([
        before("time in milliseconds", (parts) => ({ ...parts, time: `${parts.time}000` })),
        before("time with a fraction", (parts) => ({ ...parts, time: `${parts.time}.5` })),
        before("negative time", (parts) => ({ ...parts, time: `-${parts.time}` })),
        before("time in quotes", (parts) => ({ ...parts, time: `"${parts.time}"` })),
        before("expired", (parts) => ({ ...parts, time: `${parts.time};expires=${NOW_S - 1}` })),
        before("expires now", (parts) => ({ ...parts, time: `${parts.time};expires=${NOW_S}` })),
        before("expires later", (parts) => ({ ...parts, time: `${parts.time};expires=${NOW_S + 1}` })),
        before("another nonce", (parts) => ({ ...parts, time: `${parts.time};nonce="a\\"b"` })),
      ]);
    case 3:
      return dropHeader(chance, [INPUT, SIGNATURE, DIGEST]);
    case 4:
      return chance.pick([
        before("without the digest", (parts) => ({ ...parts, id: '"@method" "@target-uri"' })),
        before("without the URL", (parts) => ({ ...parts, id: '"@method" "content-digest"' })),
        before("a component twice", (parts) => ({ ...parts, id: `${parts.id} "x-event" "x-event"` })),
        before("an unknown component", (parts) => ({ ...parts, id: `${parts.id} "@status"` })),
        before("a header that is absent", (parts) => ({ ...parts, id: `${parts.id} "x-absent"` })),
        after("another method", (sample) => ({ ...sample, method: "PUT" })),
      ]);
    case 5:
      return edit(chance, DIGEST, DIGEST_EDITS);
    case 6:
      return edit(chance, SIGNATURE, SIGNATURE_EDITS);
    default:
      return edit(chance, INPUT, INPUT_EDITS);
  }
}
