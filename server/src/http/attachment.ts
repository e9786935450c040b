import type { FastifyReply } from "fastify";
import { ATTACHMENT_POLICY } from "./strict-headers.js";

/** Sends bytes that came from outside as a file to keep: shown in a browser, they would be a page of this server. */
export function sendAttachment(reply: FastifyReply, name: string, bytes: Uint8Array): FastifyReply {
  const file = name.replaceAll(/[^\w-]/g, "_").slice(0, 100);
  return reply
    .headers({
      "content-disposition": `attachment; filename="${file}.bin"`,
      "content-security-policy": ATTACHMENT_POLICY,
    })
    .type("application/octet-stream")
    .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
