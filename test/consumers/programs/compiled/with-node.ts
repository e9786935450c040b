// What Node hands in: the headers of an IncomingMessage, and a Buffer.
import type { IncomingMessage } from "node:http";
import { standardWebhooks, verify } from "posthorn/verify";
import type { Verified } from "posthorn/verify";

const verifier = standardWebhooks({ secrets: process.env["WEBHOOK_SECRET"] ?? "" });

export async function receive(request: IncomingMessage): Promise<Verified> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return verify(verifier, { headers: request.headers, body: Buffer.concat(chunks) });
}
