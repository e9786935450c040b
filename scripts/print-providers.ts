import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PROVIDER_SCHEMES } from "../library/src/providers.js";
import type { DescribedScheme, Reply, Scheme } from "../library/src/verify.js";

// docs/providers.md is printed from the schemes themselves; print-providers.test.ts keeps the two equal.

/** The page that lists every provider. */
export function providersPage(schemes: readonly DescribedScheme[]): string {
  return [
    INTRODUCTION,
    table(
      [
        "provider",
        "function",
        "signed",
        "tolerance",
        "repeats for",
        "many events",
        "reply that stops an event",
        "reply that slows down",
      ],
      schemes.map((scheme) => [
        scheme.title,
        `\`${functionName(scheme.name)}\``,
        signed(scheme),
        scheme.toleranceS === undefined ? "–" : duration(scheme.toleranceS),
        scheme.retryHorizonS === 0 ? "never repeats" : duration(scheme.retryHorizonS),
        scheme.batch ? "yes" : "no",
        reply(scheme.replies.stopEvent),
        reply(scheme.replies.slowDown),
      ]),
    ),
    COLUMNS,
    table(
      ["provider", "id", "type", "time", "confirmed by"],
      schemes.map((scheme) => [
        scheme.title,
        scheme.identity.id + (scheme.covers.id === false ? " **(not signed)**" : ""),
        scheme.identity.type,
        scheme.identity.time ?? "none",
        evidence(scheme),
      ]),
    ),
    UNSIGNED,
    OTHERS,
  ].join("\n\n");
}

const INTRODUCTION = `# Providers

Each provider is one function of \`posthorn/providers\`, which makes a verifier of its secrets; \`posthorn\` and
\`posthorn/verify\` check requests with it. Facts below are printed from the code.

\`\`\`ts
import { readEvents, verify } from "posthorn/verify";
import { stripe } from "posthorn/providers";

const verifier = stripe({ secrets: ["whsec_of_today", "whsec_of_yesterday"] });

export async function receive(request: Request): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer());
  const verified = await verify(verifier, { headers: request.headers, body, url: request.url });
  const question = await verifier.scheme.handshake?.(verified);
  if (question === undefined) for (const event of readEvents(verified)) console.log(event.id, event.type);
  const reply = question ?? verifier.scheme.replies.success;
  return new Response(reply.body ?? null, reply);
}
\`\`\`

Where the URL is signed, a server behind a proxy has to be told it: \`publicUrl\` is the origin
(\`https://example.com\`), or the whole URL where the proxy also rewrites the path.

## What each of them signs and how it repeats`;

const COLUMNS = `*Tolerance*: how far the signed time may be from now, in both directions; \`toleranceS\` changes it.
*Repeats for*: how long the provider goes on delivering by itself; whoever remembers ids must remember them longer.
Where no reply slows a provider down, 503 with \`Retry-After\` is as good as any.

## Where an event's id, type and time are`;

const UNSIGNED = `An id that is **not signed** proves nothing: whoever has one request can send it again under another id. It
serves to recognise honest repetitions; against the other kind, remember the hash of the body as well.`;

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
  const words = parts.map((part) => (part === "url" ? "URL" : part)).join(", ");
  if (covers.body) return words;
  return words === "" ? "nothing" : `${words}; not the body`;
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
