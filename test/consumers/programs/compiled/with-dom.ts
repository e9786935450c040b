// What the web hands in: a Request, its Headers, its bytes.
import { standardWebhooks, verify } from "posthorn/verify";
import type { Verified } from "posthorn/verify";

const verifier = standardWebhooks({ secrets: "whsec_new" });

export async function receive(request: Request): Promise<Verified> {
  const body = new Uint8Array(await request.arrayBuffer());
  return verify(verifier, { headers: request.headers, body, method: request.method, url: request.url });
}
