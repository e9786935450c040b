import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { encodeBase64, utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import { diagnose, propose } from "./forensics.js";
import type { Finding } from "./forensics.js";
import { headersOf, SIGNATURE_HEADERS } from "./header-variants.js";
import type { PosthornError } from "../../posthorn-error.js";
import type { Refusal, SignedRequest, Verifier } from "../scheme.js";
import { PROVIDER_SCHEMES } from "../schemes/all.js";
import { github } from "../schemes/github.js";
import { hubspot } from "../schemes/hubspot.js";
import { slack } from "../schemes/slack.js";
import { square } from "../schemes/square.js";
import { standardWebhooks } from "../schemes/standard.js";
import type { StandardOptions } from "../schemes/standard.js";
import { stripe } from "../schemes/stripe.js";
import { twilio } from "../schemes/twilio.js";
import { workos } from "../schemes/workos.js";
import { generateKeyPair } from "../keys/secret.js";
import { createSigner, signSync } from "../sign.js";
import { verify, verifySync } from "../verify.js";

const NOW_S = 1_794_770_453;
const clock = { ...systemClock, now: () => NOW_S * 1000 };
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const TEXT = '{"type": "invoice.paid", "data": {"name": "Zoë/Ada", "amount": 14900}}';

const RAW = "Hand in the exact bytes, read before any parser.";
const ANOTHER_URL = "The signature is right for another URL than this one: ";

type Headers = Record<string, string>;

function mac(
  key: string | Uint8Array,
  content: string | Uint8Array,
  encoding: "hex" | "base64" = "hex",
): string {
  return createHmac("sha256", key).update(content).digest(encoding);
}

/** The headers of Standard Webhooks for a text, as signed by the sender. */
function standardHeaders(text: string | Uint8Array, secret = SECRET, atS = NOW_S): Headers {
  const body = typeof text === "string" ? utf8(text) : text;
  return {
    ...signSync(createSigner({ secrets: secret, clock }), { id: "evt_1", body, at: new Date(atS * 1000) }),
  };
}

function stripeHeaders(text: string, secret: string | Uint8Array = SECRET, atS = NOW_S): Headers {
  return { "stripe-signature": `t=${atS},v1=${mac(secret, `${atS}.${text}`)}` };
}

function githubHeaders(text: string, secret = "secret"): Headers {
  return { "x-hub-signature-256": `sha256=${mac(secret, text)}` };
}

function squareAt(url: string, extra: Headers = {}): Headers {
  return { "x-square-hmacsha256-signature": mac("key", `${url}{"event_id":"a"}`, "base64"), ...extra };
}

const standard = (options: Partial<StandardOptions> = {}): Verifier =>
  standardWebhooks({ secrets: SECRET, clock, diagnose, ...options });
const providers = {
  stripe: (secrets = SECRET): Verifier => stripe({ secrets, clock, diagnose }),
  github: (secrets = "secret"): Verifier => github({ secrets, clock, diagnose }),
};

/** What forensics says of a request, which both forms of verify must say alike. */
async function said(verifier: Verifier, request: SignedRequest): Promise<readonly string[]> {
  const errors = [
    caught(() => verifySync(verifier, request)),
    await verify(verifier, request).catch((error: unknown) => error),
  ];
  const [one, two] = errors.map((error) => (error as PosthornError).detail["diagnosis"] ?? []);
  expect(two).toEqual(one);
  return one as readonly string[];
}

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("accepted");
}

function findings(verifier: Verifier, request: SignedRequest): readonly Finding[] {
  const seen: (readonly Finding[])[] = [];
  const sync = (refusal: Refusal): readonly string[] => {
    seen.push(propose(refusal));
    return [];
  };
  const spying = { ...verifier, diagnose: Object.assign(() => Promise.resolve([]), { sync }) };
  caught(() => verifySync(spying, request));
  return seen[0] ?? [];
}

describe("a body that was changed on the way is told by what was done to it", () => {
  const compact = JSON.stringify(JSON.parse(TEXT));
  const python = '{"type": "invoice.paid", "data": {"name": "Zo\\u00eb/Ada", "amount": 14900}}';
  const php = '{"type":"invoice.paid","data":{"name":"Zo\\u00eb\\/Ada","amount":14900}}';
  const latin1 = Buffer.from('{"name":"Zo\u00eb"}').toString("latin1");
  it.each([
    [
      "parsed and written by JSON.stringify",
      TEXT,
      compact,
      "The body was parsed and written again: the signature is right for the same JSON with a space after each comma and colon.",
    ],
    [
      "printed with 2 spaces",
      compact,
      JSON.stringify(JSON.parse(TEXT), null, 2),
      "The body was parsed and written again: the signature is right for the same JSON without spaces.",
    ],
    [
      "made compact, where 2 spaces were signed",
      JSON.stringify(JSON.parse(TEXT), null, 2),
      compact,
      "The body was parsed and written again: the signature is right for the same JSON indented by 2.",
    ],
    [
      "made compact, where 4 spaces were signed",
      JSON.stringify(JSON.parse(TEXT), null, 4),
      compact,
      "The body was parsed and written again: the signature is right for the same JSON indented by 4.",
    ],
    [
      "unescaped from Python's json.dumps",
      python,
      compact,
      "The body was parsed and written again: the signature is right for the same JSON with a space after each comma and colon, in ASCII.",
    ],
    [
      "unescaped from PHP's json_encode",
      php,
      compact,
      "The body was parsed and written again: the signature is right for the same JSON without spaces, in ASCII, with slashes escaped.",
    ],
    [
      "escaped to ASCII",
      compact,
      php,
      "The body was parsed and written again: the signature is right for the same JSON with characters unescaped.",
    ],
    ["given a line break", compact, `${compact}\n`, "A line break was added to the end of the body."],
    ["given a CRLF", compact, `${compact}\r\n`, "A line break was added to the end of the body."],
    ["robbed of its line break", `${compact}\n`, compact, "A line break at the end of the body was removed."],
    [
      "changed from CRLF to LF",
      '{\r\n"a":"b"\r\n}',
      '{\n"a":"b"\n}',
      "Line breaks of the body were changed from CRLF to LF.",
    ],
    [
      "changed from LF to CRLF",
      '{\n"a":"b"\n}',
      '{\r\n"a":"b"\r\n}',
      "Line breaks of the body were changed from LF to CRLF.",
    ],
    ["given a byte order mark", compact, `\ufeff${compact}`, "A byte order mark was added to the body."],
    [
      "robbed of its byte order mark",
      `\ufeff${compact}`,
      compact,
      "A byte order mark was removed from the body.",
    ],
    [
      "written as a JSON string",
      compact,
      JSON.stringify(compact),
      "The body's text was written as a JSON string.",
    ],
    [
      "written as a Buffer in JSON",
      compact,
      JSON.stringify(Buffer.from(compact)),
      "The body is a Buffer written as JSON.",
    ],
    [
      "left in base64",
      compact,
      Buffer.from(compact).toString("base64"),
      "The body is still in base64, as AWS Lambda hands it over with isBase64Encoded.",
    ],
    [
      "read as Latin-1",
      '{"name":"Zo\u00eb"}',
      latin1,
      "The body's bytes were read as Latin-1 and written as UTF-8.",
    ],
    [
      "a form, parsed and written again",
      "payload=a%20b&c=d",
      "payload=a+b&c=d",
      "The form in the body was parsed and written again.",
    ],
    [
      "a form, written with %20",
      "payload=a+b&c=d",
      "payload=a%20b&c=d",
      "The form in the body was parsed and written again.",
    ],
  ])("%s", async (_, sent, received, says) => {
    const body = utf8(received);
    const diagnoses = [
      await said(standard(), { headers: standardHeaders(sent), body }),
      await said(providers.stripe(), { headers: stripeHeaders(sent), body }),
      await said(providers.github(), { headers: githubHeaders(sent), body }),
    ];
    for (const diagnosis of diagnoses) expect(diagnosis).toEqual([`${says} ${RAW}`]);
  });

  it("numbers above 2^53 and repeated names survive the test of spaces", async () => {
    const sent = '{"id": 12345678901234567890, "id": 1.0}';
    const body = utf8(sent.replaceAll(" ", ""));
    expect(await said(standard(), { headers: standardHeaders(sent), body })).toEqual([
      "The body was parsed and written again: the signature is right for the same JSON with a space after each comma and colon. Hand in the exact bytes, read before any parser.",
    ]);
  });

  it("empty or turned into [object Object], it is told without a test", async () => {
    for (const [text, says] of [
      [
        "",
        "The body is empty: if the sender sent one, something read the stream before. Hand in the exact bytes, read before any parser.",
      ],
      [
        "[object Object]",
        'The body is the text "[object …]": a parsed body was turned into text. Hand in the exact bytes, read before any parser.',
      ],
    ] as const) {
      const body = utf8(text);
      expect(await said(standard(), { headers: standardHeaders(TEXT), body })).toEqual([says]);
      expect(await said(providers.github(), { headers: githubHeaders(TEXT), body })).toEqual([says]);
    }
  });

  it("handed in as text, buffer or object, it is told what to hand in", async () => {
    const compact_ = JSON.stringify(JSON.parse(TEXT));
    const cases = [
      [compact_, "The text is right as UTF-8: hand in its bytes, new TextEncoder().encode(text)."],
      [
        new Uint8Array(utf8(compact_)).buffer,
        "The ArrayBuffer holds the right bytes: hand in new Uint8Array(buffer).",
      ],
      [
        JSON.parse(compact_),
        "JSON.stringify() of the parsed body happens to fit this request, and will fail on others. Hand in the exact bytes, read before any parser.",
      ],
    ] as const;
    for (const [body, says] of cases) {
      const request = { headers: standardHeaders(compact_), body: body as Uint8Array };
      expect(await said(standard(), request)).toEqual([says]);
    }
    expect(
      await said(standard(), { headers: standardHeaders("{}"), body: "{ }" as unknown as Uint8Array }),
    ).toEqual([]);
  });
});

describe("a missing header is told by what is there instead", () => {
  it("of another scheme: verify with that one", async () => {
    const body = utf8(TEXT);
    expect(await said(providers.github(), { headers: stripeHeaders(TEXT), body })).toEqual([
      '"stripe-signature" is there instead, which is Stripe: verify this address with stripe().',
    ]);
    expect(await said(standard(), { headers: githubHeaders(TEXT), body })).toEqual([
      '"x-hub-signature-256" is there instead, which is GitHub: verify this address with github().',
    ]);
    expect(await said(providers.stripe(), { headers: standardHeaders(TEXT), body })).toEqual([
      '"webhook-signature" is there instead, which is Standard Webhooks: verify this address with standardWebhooks().',
    ]);
    const svix = { "svix-id": "a", "svix-timestamp": "1", "svix-signature": "v1,AAAA" };
    expect(await said(providers.stripe(), { headers: svix, body })).toEqual([
      '"svix-signature" is there instead, which is Standard Webhooks: verify this address with standardWebhooks().',
    ]);
  });

  it("under another name: hand in the headers as they were sent", async () => {
    const renamed = Object.fromEntries(
      Object.entries(standardHeaders(TEXT)).map(([name, value]) => [
        `HTTP_${name.replaceAll("-", "_").toUpperCase()}`,
        value,
      ]),
    );
    expect(await said(standard(), { headers: renamed, body: utf8(TEXT) })).toEqual([
      'It came under the name "http_webhook_id": hand in the headers as they were sent.',
    ]);
    const stripped = { STRIPE_SIGNATURE: stripeHeaders(TEXT)["stripe-signature"] ?? "" };
    expect(await said(providers.stripe(), { headers: stripped, body: utf8(TEXT) })).toEqual([
      'It came under the name "stripe_signature": hand in the headers as they were sent.',
    ]);
  });

  it("beside the signature of the same scheme: something drops headers", async () => {
    const { "webhook-id": _id, ...rest } = standardHeaders(TEXT);
    expect(await said(standard(), { headers: rest, body: utf8(TEXT) })).toEqual([
      '"webhook-signature" is there, so something on the way drops or renames headers.',
    ]);
  });

  it("in an outdated form: ask for the current one", async () => {
    expect(
      await said(providers.github(), { headers: { "x-hub-signature": "sha1=00" }, body: utf8(TEXT) }),
    ).toEqual([
      '"x-hub-signature" is there instead: it is the SHA-1 of before 2020; the sender has to send X-Hub-Signature-256.',
    ]);
  });

  it("not at all: nothing is made up", async () => {
    expect(await said(standard(), { headers: { host: "example.com" }, body: utf8(TEXT) })).toEqual([]);
  });
});

describe("a time that is off", () => {
  it.each([
    [
      412,
      "Everything but the time is right, so the sender holds the secret. Either it is an old request that was sent again, or this machine's clock is 412 s ahead.",
    ],
    [
      -412,
      "Everything but the time is right, so the sender holds the secret. This machine's clock is 412 s behind, or the sender's is ahead: check NTP.",
    ],
    [
      2 * 3600 + 3,
      "Everything but the time is right, so the sender holds the secret. It is off by almost exactly 2 h: one of the two clocks shows local time, set as if it were UTC.",
    ],
    [
      -19_800,
      "Everything but the time is right, so the sender holds the secret. It is off by almost exactly 5.5 h: one of the two clocks shows local time, set as if it were UTC.",
    ],
  ])("by %d s is told with its cause, once the rest is proved", async (skewS, says) => {
    const atS = NOW_S - skewS;
    const body = utf8(TEXT);
    expect(await said(standard(), { headers: standardHeaders(TEXT, SECRET, atS), body })).toEqual([says]);
    expect(await said(providers.stripe(), { headers: stripeHeaders(TEXT, SECRET, atS), body })).toEqual([
      says,
    ]);
    expect(await said(standard(), { headers: standardHeaders(TEXT, OTHER, atS), body })).toEqual([]);
    expect(await said(providers.stripe(), { headers: stripeHeaders(TEXT, OTHER, atS), body })).toEqual([]);
  });

  it("in milliseconds instead of seconds, or the other way about, is told", async () => {
    const body = utf8(TEXT);
    const ms = { ...standardHeaders(TEXT), "webhook-timestamp": `${NOW_S}000` };
    expect(await said(standard(), { headers: ms, body })).toEqual([
      "The time is in milliseconds, where this scheme has seconds: the sender must divide it by 1000.",
    ]);
    expect(
      await said(providers.stripe(), { headers: stripeHeaders(TEXT, SECRET, NOW_S * 1000), body }),
    ).toEqual([
      "The time is in milliseconds, where this scheme has seconds: the sender must divide it by 1000.",
    ]);
    const seconds = { "workos-signature": `t=${NOW_S}, v1=${mac("secret", `${NOW_S}.${TEXT}`)}` };
    expect(await said(workos({ secrets: "secret", clock, diagnose }), { headers: seconds, body })).toEqual([
      "Everything but the time is right, so the sender holds the secret. The time is in seconds, where this scheme has milliseconds.",
    ]);
    const date = { ...standardHeaders(TEXT), "webhook-timestamp": "2026-11-15T19:20:53Z" };
    expect(await said(standard(), { headers: date, body })).toEqual([
      "The time is a date, where this scheme has a number of seconds.",
    ]);
    const fraction = { ...standardHeaders(TEXT), "webhook-timestamp": `${NOW_S}.123` };
    expect(await said(standard(), { headers: fraction, body })).toEqual([
      "The time has a fraction: the sender must send whole seconds.",
    ]);
  });
});

describe("a secret in the wrong form is told by its name", () => {
  const body = utf8(TEXT);
  const content = `evt_1.${NOW_S}.${TEXT}`;
  const with_ = (key: string | Uint8Array): SignedRequest => ({
    headers: {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(NOW_S),
      "webhook-signature": `v1,${mac(key, content, "base64")}`,
    },
    body,
  });

  it("used as text by the sender, whole as Stripe's or without its prefix", async () => {
    expect(await said(standard(), with_(SECRET))).toEqual([
      'secret 1 is used by the sender as text, not as base64: set secretEncoding: "utf8", and keep its prefix "whsec_", as Stripe does.',
    ]);
    expect(await said(standard(), with_(SECRET.slice(6)))).toEqual([
      'secret 1 is used by the sender as text, not as base64: set secretEncoding: "utf8", without the prefix "whsec_".',
    ]);
    const padded = `whsec_${encodeBase64(new Uint8Array(25).fill(200))}`;
    expect(await said(standard({ secrets: padded }), with_(padded))).toEqual([
      'secret 1 is used by the sender as text, not as base64: set secretEncoding: "utf8", and keep its prefix "whsec_", as Stripe does.',
    ]);
    expect(
      await said(standard({ secrets: padded.replaceAll("=", "") }), with_(padded.replaceAll("=", ""))),
    ).toEqual([
      'secret 1 is used by the sender as text, not as base64: set secretEncoding: "utf8", and keep its prefix "whsec_", as Stripe does.',
    ]);
  });

  it("used as base64 or hexadecimal by the sender, where its text is the key", async () => {
    const raw = Buffer.from(SECRET.slice(6), "base64");
    expect(await said(providers.stripe(), { headers: stripeHeaders(TEXT, raw), body })).toEqual([
      "secret 1 is used by the sender as base64, not as text.",
    ]);
    expect(await said(standard({ secretEncoding: "utf8" }), with_(raw))).toEqual([
      'secret 1 is used by the sender as base64, not as text: leave out secretEncoding: "utf8".',
    ]);
    const hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
    expect(
      await said(providers.github(hex), {
        headers: { "x-hub-signature-256": `sha256=${mac(Buffer.from(hex, "hex"), TEXT)}` },
        body,
      }),
    ).toEqual(["secret 1 is used by the sender as hexadecimal, not as text."]);
    expect(await said(standard({ secrets: hex }), with_(Buffer.from(hex, "hex")))).toEqual([
      "secret 1 is hexadecimal, not base64: write its bytes in base64.",
    ]);
  });

  it("with quotes, spaces or a line break around it, without its prefix or with one too many", async () => {
    expect(await said(providers.github('"secret"'), { headers: githubHeaders(TEXT), body })).toEqual([
      "secret 1 has quotes around it: remove them.",
    ]);
    expect(await said(providers.github(" secret\n"), { headers: githubHeaders(TEXT), body })).toEqual([
      "secret 1 has spaces or a line break around it: remove them.",
    ]);
    expect(await said(providers.stripe(SECRET.slice(6)), { headers: stripeHeaders(TEXT), body })).toEqual([
      'secret 1 lacks its prefix "whsec_": copy it whole.',
    ]);
    expect(await said(providers.stripe(), { headers: stripeHeaders(TEXT, SECRET.slice(6)), body })).toEqual([
      'secret 1 is used by the sender without its prefix "whsec_".',
    ]);
  });

  it("among several, the one that is wrong is named", async () => {
    const verifier = standard({ secrets: [OTHER, { name: "old", secret: SECRET }] });
    expect(await said(verifier, with_(SECRET))).toEqual([
      'old is used by the sender as text, not as base64: set secretEncoding: "utf8", and keep its prefix "whsec_", as Stripe does.',
    ]);
  });

  it("of another kind or given twice is told without a test, and never shown", async () => {
    for (const [secret, kind] of [
      ["xoxb-1-canary", "a Slack token"],
      ["AC0123456789abcdef0123456789abcdef", "a Twilio account SID"],
    ] as const)
      expect(await said(providers.github(secret), { headers: githubHeaders(TEXT), body })).toEqual([
        `secret 1 looks like ${kind}; expected the webhook's signing secret.`,
      ]);
    expect(await said(standard({ secrets: [OTHER, OTHER] }), with_("x"))).toEqual([
      "secret 1 and secret 2 are the same secret.",
    ]);
  });
});

describe("a signature in the wrong form is told", () => {
  const body = utf8(TEXT);

  it("in hexadecimal instead of base64, or the other way about", async () => {
    const headers = standardHeaders(TEXT);
    const hex = Buffer.from(headers["webhook-signature"]?.slice(3) ?? "", "base64").toString("hex");
    expect(
      await said(standard(), { headers: { ...headers, "webhook-signature": `v1,${hex}` }, body }),
    ).toEqual([
      'The header "webhook-signature" has its signature in hexadecimal, where base64 is expected: the sender must encode it otherwise.',
    ]);
    const stripes = { "stripe-signature": `t=${NOW_S},v1=${mac(SECRET, `${NOW_S}.${TEXT}`, "base64")}` };
    expect(await said(providers.stripe(), { headers: stripes, body })).toEqual([
      'The header "stripe-signature" has its signature in base64, where hexadecimal is expected: the sender must encode it otherwise.',
    ]);
    const githubs = { "X-Hub-Signature-256": `sha256=${mac("secret", TEXT, "base64")}` };
    expect(await said(providers.github(), { headers: githubs, body })).toEqual([
      'The header "x-hub-signature-256" has its signature in base64, where hexadecimal is expected: the sender must encode it otherwise.',
    ]);
  });

  it("without what stands before it, or in quotes", async () => {
    const headers = standardHeaders(TEXT);
    const bare = headers["webhook-signature"]?.slice(3) ?? "";
    expect(await said(standard(), { headers: { ...headers, "webhook-signature": bare }, body })).toEqual([
      'The header "webhook-signature" lacks "v1," before its signature: the sender must add it.',
    ]);
    expect(
      await said(providers.github(), { headers: { "x-hub-signature-256": mac("secret", TEXT) }, body }),
    ).toEqual([
      'The header "x-hub-signature-256" lacks "sha256=" before its signature: the sender must add it.',
    ]);
    expect(
      await said(standard(), { headers: { ...headers, "webhook-signature": `"v1,${bare}"` }, body }),
    ).toEqual(['The header "webhook-signature" has quotes or spaces around it.']);
  });

  it("by Ed25519 with only secrets given, or by a secret with only public keys", async () => {
    const pair = await generateKeyPair();
    expect(await said(standard(), { headers: standardHeaders(TEXT, pair.signingKey), body })).toEqual([
      'The request is signed with Ed25519 ("v1a"), and only secrets are given: add the sender\'s "whpk_" key.',
    ]);
    expect(
      await said(standard({ secrets: pair.publicKey }), { headers: standardHeaders(TEXT), body }),
    ).toEqual([
      'The request is signed with a shared secret ("v1"), and only public keys are given: add the "whsec_" secret.',
    ]);
  });
});

describe("a URL that differs behind a proxy is told", () => {
  const body = utf8('{"event_id":"a"}');
  const verifier = square({ secrets: "key", clock, diagnose });
  it.each([
    [
      "http instead of https",
      "https://example.com/hooks",
      "http://example.com/hooks",
      {},
      "the provider has it with https, so set publicUrl.",
    ],
    [
      "a port too many",
      "https://example.com/hooks",
      "https://example.com:8443/hooks",
      {},
      "the provider has it without the port, so set publicUrl.",
    ],
    [
      "a port and http",
      "https://example.com/hooks",
      "http://example.com:3000/hooks",
      {},
      "the provider has it with https and without the port, so set publicUrl.",
    ],
    [
      "a port missing",
      "https://example.com:443/hooks",
      "https://example.com/hooks",
      {},
      "the provider has it with a port, so set publicUrl.",
    ],
    [
      "a slash missing",
      "https://example.com/hooks/",
      "https://example.com/hooks",
      {},
      "the provider has it with a slash at the end.",
    ],
    [
      "a slash too many",
      "https://example.com/hooks",
      "https://example.com/hooks/",
      {},
      "the provider has it without a slash at the end.",
    ],
    [
      "a query too many",
      "https://example.com/hooks",
      "https://example.com/hooks?a=1",
      {},
      "the provider has it without the query.",
    ],
    [
      "an inner host",
      "https://example.com/hooks",
      "http://10.0.0.5:3000/hooks",
      { "x-forwarded-host": "example.com", "x-forwarded-proto": "https" },
      'the request was forwarded, so set publicUrl to "https://example.com".',
    ],
    [
      "an inner host behind two proxies",
      "https://example.com/hooks",
      "http://inner/hooks",
      { "x-forwarded-host": "example.com, inner2", "x-forwarded-proto": "https, http" },
      'the request was forwarded, so set publicUrl to "https://example.com".',
    ],
    [
      "an inner host, told by Forwarded",
      "https://example.com/hooks",
      "http://inner/hooks",
      { forwarded: 'for=1.2.3.4;host="example.com";proto=https, for=2.3.4.5' },
      'the request was forwarded, so set publicUrl to "https://example.com".',
    ],
    [
      "an inner host, told by Host alone",
      "https://example.com/hooks",
      "http://inner/hooks",
      { host: "example.com" },
      'the request was forwarded, so set publicUrl to "http://example.com", with https.',
    ],
    [
      "a path without its start",
      "https://example.com/api/hooks",
      "https://example.com/hooks",
      { "x-forwarded-prefix": "/api" },
      "a proxy removed the start of the path, so set publicUrl.",
    ],
    [
      "a prefix of the application",
      "https://example.com/hooks",
      "https://example.com/api/hooks",
      {},
      "the provider has it without the first part of its path, so set publicUrl.",
    ],
    [
      "a prefix and a version",
      "https://example.com/hooks?a=1",
      "https://example.com/api/v1/hooks?a=1",
      {},
      "the provider has it without the first two parts of its path, so set publicUrl.",
    ],
    [
      "another path",
      "https://example.com/api/hooks?a=1",
      "https://example.com/internal",
      { "x-original-uri": "/api/hooks?a=1" },
      "a proxy changed the path, so set publicUrl.",
    ],
  ])("by %s", async (...[, signed, url, extra, says]) => {
    expect(await said(verifier, { headers: squareAt(signed, extra), body, url })).toEqual([
      `${ANOTHER_URL}${says}`,
    ]);
  });

  it("also where only the path is known", async () => {
    const headers = squareAt("https://example.com/hooks", {
      "x-forwarded-host": "example.com",
      "x-forwarded-proto": "https",
    });
    expect(await said(verifier, { headers, body, url: "/hooks" })).toEqual([
      'The signature is right for another URL than this one: the request was forwarded, so set publicUrl to "https://example.com".',
    ]);
  });

  it("also where publicUrl itself is wrong, and for Twilio and HubSpot", async () => {
    const wrong = square({ secrets: "key", clock, diagnose, publicUrl: "http://example.com/hooks" });
    expect(
      await said(wrong, { headers: squareAt("https://example.com/hooks"), body, url: "/hooks" }),
    ).toEqual([
      "The signature is right for another URL than this one: the provider has it with https, so set publicUrl.",
    ]);
    const token = createHmac("sha1", "token").update("https://example.com/smsBodyhi").digest("base64");
    const sms = {
      headers: { "x-twilio-signature": token },
      body: utf8("Body=hi"),
      url: "http://example.com/sms",
    };
    expect(await said(twilio({ secrets: "token", clock, diagnose }), sms)).toEqual([
      "The signature is right for another URL than this one: the provider has it with https, so set publicUrl.",
    ]);
    const signature = mac("key", `POSThttps://example.com/hooks[]${NOW_S}000`, "base64");
    const crm = {
      headers: { "x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": `${NOW_S}000` },
      body: utf8("[]"),
      url: "http://example.com/hooks",
      method: "POST",
    };
    expect(await said(hubspot({ secrets: "key", clock, diagnose }), crm)).toEqual([
      "The signature is right for another URL than this one: the provider has it with https, so set publicUrl.",
    ]);
  });

  it("shows no host that is none", () => {
    const headers = squareAt("https://example.com/hooks", { "x-forwarded-host": "<script>", host: "a b" });
    expect(
      findings(verifier, { headers, body, url: "https://example.com/other" }).some(({ says }) =>
        /script|a b/.test(says),
      ),
    ).toBe(false);
  });
});

describe("forensics", () => {
  const body = utf8(TEXT);

  it("of a forged request says only that no secret matches, and where the right one may be", async () => {
    const forged: readonly (readonly [Verifier, SignedRequest])[] = [
      [standard(), { headers: standardHeaders(TEXT, OTHER), body }],
      [
        standard({ secrets: [SECRET, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] }),
        { headers: standardHeaders(TEXT, OTHER), body },
      ],
      [providers.stripe(), { headers: stripeHeaders(TEXT, OTHER), body }],
      [providers.github(), { headers: githubHeaders(TEXT, "guess"), body }],
      [
        slack({ secrets: "secret", clock, diagnose }),
        {
          headers: {
            "x-slack-signature": `v0=${"0".repeat(64)}`,
            "x-slack-request-timestamp": String(NOW_S),
          },
          body,
        },
      ],
      [
        square({ secrets: "key", clock, diagnose }),
        {
          headers: { "x-square-hmacsha256-signature": mac("guess", "x", "base64"), host: "example.com" },
          body,
          url: "https://example.com/",
        },
      ],
      [
        twilio({ secrets: "token", clock, diagnose }),
        {
          headers: { "x-twilio-signature": createHmac("sha1", "guess").digest("base64") },
          body: utf8("Body=hi"),
          url: "https://example.com/sms",
        },
      ],
    ];
    const findings_ = await Promise.all(forged.map(([verifier, request]) => said(verifier, request)));
    const another = "The given secret does not match; most likely it is another endpoint's.";
    expect(findings_.flat()).toEqual([
      `${another} Paste the secret of the endpoint that this request was sent to.`,
      "None of the 2 given secrets matches; most likely they are another endpoint's. " +
        "Paste the secret of the endpoint that this request was sent to.",
      `${another} Paste the endpoint's signing secret, "whsec_…": each endpoint has its own, and so has the Stripe CLI.`,
      `${another} Paste the secret that you gave the webhook.`,
      `${another} Paste the app's signing secret.`,
      `${another} Paste the subscription's signature key.`,
      `${another} Paste the account's auth token.`,
    ]);
  });

  it("of a wrong public key speaks of keys", async () => {
    const [right, other] = await Promise.all([generateKeyPair(), generateKeyPair()]);
    const request = { headers: standardHeaders(TEXT, right.signingKey), body };
    expect(await said(standard({ secrets: other.publicKey }), request)).toEqual([
      "The given key does not match; most likely it is another endpoint's. " +
        "Paste the secret of the endpoint that this request was sent to.",
    ]);
  });

  it("of a body that is too large to look into says so", async () => {
    const large = utf8(JSON.stringify({ text: "x".repeat(65_536) }));
    expect(await said(providers.stripe(), { headers: stripeHeaders(TEXT, OTHER), body: large })).toEqual([
      "The given secret does not match. The body has more than 65536 bytes, so forensics did not look for changes to it.",
    ]);
  });

  it("takes no change for a cause that leaves the signed content as it is", async () => {
    // The URL names the body's hash, so Twilio signs the URL alone, and the signature holds whatever the body is.
    const url = `https://example.com/sms?bodySHA256=${"0".repeat(64)}`;
    const signature = createHmac("sha1", "token").update(url).digest("base64");
    const request = { headers: { "x-twilio-signature": signature }, body: utf8('{"a": 1}'), url };
    expect(await said(twilio({ secrets: "token", clock, diagnose }), request)).toEqual([]);
  });

  it("asks at most 24 questions, and none about bodies over 64 kB", () => {
    const keys = Array.from(
      { length: 8 },
      (_, index) => `whsec_${encodeBase64(new Uint8Array(25).fill(index))}`,
    );
    const many = findings(standard({ secrets: keys }), { headers: standardHeaders(TEXT, OTHER), body });
    expect(many.filter(({ test }) => test !== undefined)).toHaveLength(24);
    const large = utf8(JSON.stringify({ text: "x".repeat(65_536) }));
    expect(findings(standard(), { headers: standardHeaders(TEXT), body: large })).toEqual([]);
    const text = " ".repeat(70_000) as unknown as Uint8Array;
    expect(findings(standard(), { headers: standardHeaders(TEXT), body: text })).toEqual([]);
  });

  it("shows neither a secret nor a payload, whatever the cause", () => {
    const canaries = ["CANARYcanaryCANARYcanaryCANARY12", "payloadcanary", "headercanary", "querycanary"];
    const secret = `whsec_${canaries[0]}`;
    const texts = ['{"payloadcanary": "payloadcanary"}', "payloadcanary=payloadcanary", '"payloadcanary"'];
    const wrong = ["v1,headercanary", "headercanary", `v1,${mac("x", "y", "base64")}`, `v1,${mac("x", "y")}`];
    const verifiers = [
      standard({ secrets: secret }),
      standard({ secrets: secret, secretEncoding: "utf8" }),
      providers.stripe(` "${secret}" `),
      providers.github(`ghp_${secret}`),
      square({ secrets: secret, clock, diagnose }),
    ];
    let count = 0;
    for (const verifier of verifiers)
      for (const text of texts)
        for (const signature of wrong)
          for (const atS of [String(NOW_S), `${NOW_S}000`, "headercanary", "1"]) {
            const headers = {
              "webhook-id": "evt_1",
              "webhook-timestamp": atS,
              "webhook-signature": signature,
              "stripe-signature": `t=${atS},v1=${signature}`,
              "x-hub-signature-256": `sha256=${signature}`,
              "x-square-hmacsha256-signature": signature.slice(3),
              "x-forwarded-host": "headercanary evil",
              "x-forwarded-prefix": "/querycanary",
            };
            const url = "http://example.com:3000/querycanary?querycanary=1";
            for (const finding of findings(verifier, { headers, body: utf8(text), url })) {
              count++;
              for (const canary of canaries) expect(finding.says).not.toContain(canary);
            }
          }
    expect(count).toBeGreaterThan(500);
  });

  it("tells providers that share a header apart by what stands before the signature", async () => {
    const headers = { "x-hub-signature": `sha256=${"ab".repeat(32)}` };
    const request: SignedRequest = { headers, body: new TextEncoder().encode(TEXT) };
    const verifier = stripe({ secrets: "whsec_a_secret_of_stripe", clock, diagnose });
    const error = await verify(verifier, request).catch((thrown: unknown) => thrown as PosthornError);
    expect(error).toMatchObject({ code: "header_missing", message: expect.stringContaining("bitbucket()") });
    expect((error as PosthornError).message).not.toContain("intercom()");
  });

  it("knows the signature header of every scheme that has one", () => {
    // Mailgun and Adyen sign in the body, Figma has its passcode there; `Authorization` is nobody's own.
    const others = new Set(["adyen", "auth0", "chargebee", "figma", "mailgun", "postmark"]);
    const names = new Set(PROVIDER_SCHEMES.map(headersOf).filter((name) => !others.has(name)));
    expect([...new Set(SIGNATURE_HEADERS.map(({ scheme }) => scheme))].toSorted()).toEqual(
      [...names].toSorted(),
    );
    for (const { scheme, title } of SIGNATURE_HEADERS)
      expect(title).toBe(PROVIDER_SCHEMES.find(({ name }) => name === scheme)?.title);
  });
});
