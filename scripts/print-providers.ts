import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defaultWindowS } from "../library/src/inbox/source.js";
import { PROVIDER_SCHEMES } from "../library/src/providers.js";
import type { DescribedScheme, Reply, Scheme } from "../library/src/verify.js";

// docs/providers.md is printed from the schemes themselves; print-providers.test.ts keeps the two equal.

/** The page that lists every provider. */
export function providersPage(schemes: readonly DescribedScheme[]): string {
  return [
    INTRODUCTION,
    secretTable(schemes),
    SIGNED,
    signingTable(schemes),
    COLUMNS,
    identityTable(schemes),
    UNSIGNED,
    PROVIDERS,
    OTHERS,
  ].join("\n\n");
}

function secretTable(schemes: readonly DescribedScheme[]): string {
  const rows = schemes.map(({ title, name, secret }) => [title, `\`${functionName(name)}\``, secret]);
  return table(["provider", "function", "paste"], rows);
}

function signingTable(schemes: readonly DescribedScheme[]): string {
  return table(
    [
      "provider",
      "signed",
      "tolerance",
      "repeats for",
      "remembered for",
      "largest body",
      "many events",
      "reply that stops an event",
      "reply that slows down",
    ],
    schemes.map((scheme) => [
      scheme.title,
      signed(scheme),
      scheme.toleranceS === undefined ? "–" : duration(scheme.toleranceS),
      scheme.retryHorizonS === 0 ? "never repeats" : duration(scheme.retryHorizonS),
      duration(defaultWindowS(scheme)),
      scheme.maxBodyBytes === undefined ? "–" : `${scheme.maxBodyBytes / 1_048_576} MiB`,
      scheme.batch ? "yes" : "no",
      reply(scheme.replies.stopEvent),
      reply(scheme.replies.slowDown),
    ]),
  );
}

function identityTable(schemes: readonly DescribedScheme[]): string {
  return table(
    ["provider", "id", "type", "time", "another body under the id", "confirmed by"],
    schemes.map((scheme) => [
      scheme.title,
      scheme.identity.id + (scheme.covers.id === false ? " **(not signed)**" : ""),
      scheme.identity.type,
      scheme.identity.time ?? "none",
      scheme.bodyVaries === true ? "duplicate" : "conflict",
      evidence(scheme),
    ]),
  );
}

const INTRODUCTION = `# Providers

Each provider is one function of \`posthorn/providers\`. The function makes a verifier from the provider's secrets; \`posthorn\`
and \`posthorn/verify\` check requests with it. The tables below are printed from the code.

\`\`\`ts
import { readEvents, successReply, verify } from "posthorn/verify";
import { stripe } from "posthorn/providers";

const verifier = stripe({ secrets: ["whsec_of_today", "whsec_of_yesterday"] });

export async function receive(request: Request): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer());
  const verified = await verify(verifier, { headers: request.headers, body, url: request.url });
  const question = await verifier.scheme.handshake?.(verified);
  if (question === undefined) for (const event of readEvents(verified)) console.log(event.id, event.type);
  const reply = question ?? successReply(verified);
  return new Response(reply.body ?? null, reply);
}
\`\`\`

Where the URL is signed, a server behind a proxy needs \`publicUrl\`: the origin (\`https://example.com\`), or the whole URL if
the proxy also rewrites the path.

A request is refused if a header that proves or names its event stands twice (\`header_malformed\`), or if the request has
more than 200 headers (\`headers_too_many\`). On Node, \`request.headers\` holds two values joined into one; \`nodeListener\`
therefore also looks at \`request.rawHeaders\`. If you call \`verify\` yourself, pass \`rawHeaders: request.rawHeaders\` too.
Leave the server's \`maxHeadersCount\` at 200 or more: Node drops all headers beyond it without a word.

## Which secret to paste

API keys (\`sk_live_…\`, \`pk_test_…\`) and secrets of one character are refused when the verifier is made.`;

const SIGNED = `## What each of them signs and how it repeats`;

const COLUMNS = `*Tolerance*: how far the signed time may be from now, in both directions; \`toleranceS\` changes it.
*Repeats for*: how long the provider goes on delivering by itself; whoever remembers ids must remember them longer.
*Remembered for*: how long a receiver or the gateway knows an event again, unless \`windowS\` says otherwise.
*Largest body*: what the provider sends at most, which is the receiver's limit for that source. Where the provider names no
size, the limit is 1 MiB. \`maxBodyBytes\` of \`createReceiver\` replaces the limit of every source.
Where no reply slows a provider down, 503 with \`Retry-After\` is as good as any.

## Where an event's id, type and time are`;

const UNSIGNED = `*Another body under the id*: what a receiver calls a second request with a known id and other bytes. Some providers write the
body anew for each delivery of one event: Stripe counts \`pending_webhooks\` down, HubSpot, Intercom and Notion count attempts up, Linear
writes the time of the attempt, DocuSign counts in \`retryCount\`, Chargebee says in \`webhook_status\` that it was scheduled anew, and a replay by Paddle has a \`notification_id\` of its own. A comparison of bytes would call each of
their retries a conflict, so there the id alone decides: a **duplicate**. Everywhere else, other bytes under a known id mean that the sender
reuses ids, or that somebody has put a body beside an id that is not signed: a **conflict**, which is recorded, reported and not
applied. Where a source reuses ids on purpose, \`dedup: { by: "content", content: "raw" }\` makes each body an event of its own.

An id that is **not signed** proves nothing: whoever has one request can send it again under another id. It
serves to recognise honest repetitions; against the other kind, remember the hash of the body as well.

**Without an id**, the hash of the body names an event. Most such bodies hold a time, so that no two events share one. Those of Bitbucket,
Sentry and Webflow may come again as another event: a branch that is deleted and made again at the same commit, an issue that is resolved
twice, a quantity that goes from 100 to 99 and back. Nothing in such a request tells a retry from a new event but when it comes, so these
are remembered for twice as long as their provider retries, counted from the first receipt. What comes again later is a new event; so is a delivery that a person lets the
provider repeat later. What comes again sooner is a duplicate, and is not applied, also where it was a new event: let the handler take it as
a hint, and read the present state from the provider's API. \`windowS\` of the source (\`--window\` in the gateway) moves this boundary; where
your bodies have fields that tell one event from the next, \`dedup: { by: "content", content: "json", include: ["/payload/version"] }\` names
them. A source of the gateway that was added before keeps the window that it has.`;

const PROVIDERS = `## What to know about single providers

**Adyen** signs eight fields of a notification, and not the rest. What is signed is its identity: reference, event code and
success. Before you act on another field, ask Adyen's API. Its platform webhooks, which sign the whole body in a header, are
those of \`hmac\`: header \`HmacSignature\`, encoding \`base64\`, secret encoding \`hex\`.

**Asana** and **Notion** bring their secret with the first request, which therefore nobody signs: a verifier refuses it. Answer
Asana's handshake in a route of your own (the header \`X-Hook-Secret\` in the reply, status 200). Notion's token stands in the
body, and is confirmed in its settings.

**Auth0**, **Chargebee**, **Figma** and **Postmark** sign nothing. They send a token or a password, which proves that the sender
knows it and nothing of the body; whoever sees one request can send any other. Use TLS only, and a value of their own for each.

**Discord.** Webhook events are answered 204, as Discord expects. An interaction (a command, a button, a modal) is answered
202: the handler sends its answer to Discord's callback address, within 3 seconds of the request. Both kinds of PING are
answered without an event.

**DocuSign Connect** names no event. Envelope, event, recipient and time of its JSON messages (SIM) do, so that a retry, which has another
\`retryCount\`, is a duplicate. Its older formats have no such fields: there the body's hash counts, and a retry with another body is a new event.

**Figma** names no event, and counts attempts in \`retries\`. The hash of the body without this field names an event, so that a retry is a
duplicate, and each part of a large \`LIBRARY_PUBLISH\` an event of its own. A source of the gateway that was added before keeps the rule
that it has: \`posthorn source update <name> --dedup content --exclude /retries\`.

**GitHub** and **GitLab** send up to 25 MB and never repeat a request that was refused, so receivers read up to that size
from them, also from strangers. Set \`maxBodyBytes\` if your memory is smaller.

**HTTP Message Signatures** (RFC 9421). \`publicUrl\` is needed: all receivers of a sender share its public key, and the URL of a request is
what its sender writes, so without your own URL a request that was signed for another receiver would be accepted. In the gateway, the option
of the source or the setting \`public_url\` says it. A signature must cover \`content-digest\` and the URL: \`@target-uri\`, or \`@authority\`
and \`@path\`. \`mustCover\` asks for more. The body must have the covered digest, by SHA-256 or SHA-512. Components with
parameters are refused. The key's own algorithm counts, whatever the request says: \`ed25519\`, \`ecdsa-p256-sha256\`,
\`rsa-pss-sha512\`, or \`rsa-v1_5-sha256\` with \`rsa: "rsa_sha256"\`. A sender whose key is in a KMS signs a text of some hundred
bytes, whatever the size of the body.

\`\`\`ts
import { httpSignature } from "posthorn/providers";

export const verifier = httpSignature({
  secrets: "-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\\n-----END PUBLIC KEY-----",
  publicUrl: "https://example.com",
  mustCover: ["@method", "x-event-id"],
  id: { header: "x-event-id" },
});
\`\`\`

**Mailgun** signs a time and a random token, and nothing of the event. \`verify\` alone cannot see that somebody put another
event beside a captured signature. Therefore the token is the event's id. A receiver refuses a second body under the same
token as a conflict, even after a failure of the first, and does not accept another \`dedup\`. Without a receiver,
remember the token of every request for 8 h 5 min, and refuse a second one. \`event-data.id\` is in the body.

**PayPal** names the address of its certificate in each request. The address must be
\`https://api.paypal.com/v1/notifications/certs/…\`, or the same on \`api-m.paypal.com\` or under \`sandbox.paypal.com\`.
Fetch the certificate once and keep it:

\`\`\`ts
import type { KeySet } from "posthorn";
import { keySetFromCertificate, paypal } from "posthorn/providers";

// Only what PayPal itself served gets in here, so the map stays small.
const certificates = new Map<string, KeySet>();

export const verifier = paypal({
  webhookId: "8PT597110X687430LKGECATA",
  keys: async ({ name = "" }) => {
    const known = certificates.get(name);
    if (known !== undefined) return known;
    const response = await fetch(name, { redirect: "error", signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(\`PayPal answered \${response.status} for its certificate\`);
    const keys = keySetFromCertificate(await response.text(), name);
    certificates.set(name, keys);
    return keys;
  },
});
\`\`\`

**Polar** signs with the text of secrets that it made before 8 September 2026, and with the base64 in later ones. The two look
alike; \`polar\` accepts either, as Polar's own library does.

**Standard Webhooks** with a key set: \`keys: keySetFromJwks(document)\`. A key counts only as the document says: from \`nbf\`
(or \`not_before\`) until \`exp\` (or \`not_after\`), unless it is \`revoked\`, and if \`use\`, \`key_ops\` and \`alg\` allow it to
check signatures.

**Supabase**'s auth hooks wait for an answer: a handler has a few seconds, and \`{}\` is the answer when it succeeds.

**Twilio** can call by GET. The parameters of the signed URL are then the event's body, and their hash tells two calls apart
if Twilio sends no \`I-Twilio-Idempotency-Token\`. The adapters take POST only: configure POST, or pass the request to
\`receiver.receive\` yourself.

**WooCommerce** makes its delivery id of the webhook and the second, so that two orders of one second share it. The event's id is therefore
the delivery id and the signature, which is a hash of the body. WooCommerce sends a ping when a webhook is saved: a form, which nobody signs. It is answered 401, and WooCommerce shows an error at the
webhook. The webhook works all the same.`;

const OTHERS = `## Providers that are not in the list

\`hmac\` takes a description, checks it when the verifier is made, and refuses what would not protect: content
without the body, or a time that is not signed.

\`\`\`ts
import { hmac } from "posthorn/providers";

const verifier = hmac({
  name: "acme",
  secrets: "the secret that Acme shows",
  header: "x-acme-signature",
  encoding: "hex",
  prefix: "sha256=",
  content: "{timestamp}.{body}",
  timestampHeader: "x-acme-timestamp",
  id: { json: "/id" },
  type: { json: "/event" },
  time: { json: "/created", unit: "s" },
  retryHorizonS: 86_400,
});
\`\`\`
`;

/** `lemon_squeezy` is exported as `lemonSqueezy`. */
function functionName(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function signed({ covers }: Scheme): string {
  const parts = (["url", "time", "body"] as const).filter((part) => covers[part]);
  const words = parts.map((part) => (part === "url" ? "URL" : part));
  if (covers.body) return words.join(", ");
  const all = covers.id === false ? words : [...words, "id"];
  return all.length === 0 ? "nothing" : `${all.join(", ")}; not the body`;
}

function reply(found: Reply | undefined): string {
  if (found === undefined) return "–";
  const headers = Object.entries(found.headers ?? {}).map(([name, value]) => `\`${name}: ${value}\``);
  return [`${found.status}`, ...headers].join(" with ");
}

function evidence({ evidence: found }: DescribedScheme): string {
  switch (found.kind) {
    case "official_library":
      return `library \`${found.name}\` ${found.version}`;
    case "published_example":
      return `published example: ${found.where}`;
    case "unconfirmed":
      return `**unconfirmed**: ${found.why}`;
  }
}

const UNITS = [
  ["day", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** Seconds for people, in at most two units. */
export function duration(seconds: number): string {
  const words: string[] = [];
  let rest = seconds;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${unit}${unit === "day" && count > 1 ? "s" : ""}`);
  }
  return words.slice(0, 2).join(" ");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(heads), `|${"---|".repeat(heads.length)}`, ...rows.map(line)].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/providers.md", import.meta.url), providersPage(PROVIDER_SCHEMES));
}
