import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";

/** Headers of every answer: nothing of the API is a page, a script or a frame. */
export const STRICT_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
});

/** Sent where a proxy speaks TLS to the caller. Sent by mistake, it locks browsers out for a year. */
export const TRANSPORT_SECURITY: Readonly<Record<string, string>> = Object.freeze({
  "strict-transport-security": "max-age=31536000",
});

const LIST: readonly string[] = Object.entries(STRICT_HEADERS).flat();
const LIST_OVER_TLS: readonly string[] = [...LIST, ...Object.entries(TRANSPORT_SECURITY).flat()];

/** The same headers for `writeHead`, as a new list of names and values in turn. */
export function strictHead(
  { headers }: IncomingMessage,
  { behindProxy }: { readonly behindProxy: boolean },
): string[] {
  const overTls = behindProxy && lastOf(headers["x-forwarded-proto"]) === "https";
  return (overTls ? LIST_OVER_TLS : LIST).slice();
}

// The proxy before us appends its value; anybody can write those to the left.
function lastOf(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === "string" ? header : header?.join(",");
  return text?.split(",").at(-1)?.trim();
}

/** Sends bytes from outside as an attachment: shown in a browser, they would be a page of this server. */
export function sendAttachment(reply: FastifyReply, name: string, bytes: Uint8Array): FastifyReply {
  const file = name.replaceAll(/[^\w-]/g, "_").slice(0, 100);
  return reply
    .headers({
      "content-disposition": `attachment; filename="${file}.bin"`,
      // A browser that shows them all the same runs no script of them.
      "content-security-policy": `${STRICT_HEADERS["content-security-policy"]}; sandbox`,
    })
    .type("application/octet-stream")
    .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
