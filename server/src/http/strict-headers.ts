import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";

/** On every answer: nothing of the API is a page, a script or a frame. */
export const STRICT_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
});

/** Where a proxy speaks TLS to the caller. Said over plain HTTP, it would be ignored; said by mistake, it locks out. */
export const TRANSPORT_SECURITY: Readonly<Record<string, string>> = Object.freeze({
  "strict-transport-security": "max-age=31536000",
});

const LIST: readonly string[] = Object.entries(STRICT_HEADERS).flat();
const LIST_OVER_TLS: readonly string[] = [...LIST, ...Object.entries(TRANSPORT_SECURITY).flat()];

/** The strict headers of an answer that no framework writes: names and values in turn, in a new list. */
export function strictHead(
  { headers }: IncomingMessage,
  { behindProxy }: { readonly behindProxy: boolean },
): string[] {
  const overTls = behindProxy && lastOf(headers["x-forwarded-proto"]) === "https";
  return (overTls ? LIST_OVER_TLS : LIST).slice();
}

// What the proxy before us wrote stands last; what stands further left anybody can write.
function lastOf(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === "string" ? header : header?.join(",");
  return text?.split(",").at(-1)?.trim();
}

/** Sends bytes that came from outside as a file to keep: shown in a browser, they would be a page of this server. */
export function sendAttachment(reply: FastifyReply, name: string, bytes: Uint8Array): FastifyReply {
  const file = name.replaceAll(/[^\w-]/g, "_").slice(0, 100);
  return reply
    .headers({
      "content-disposition": `attachment; filename="${file}.bin"`,
      // A browser that shows it all the same runs nothing of it.
      "content-security-policy": `${STRICT_HEADERS["content-security-policy"]}; sandbox`,
    })
    .type("application/octet-stream")
    .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
