import { concat } from "../bytes.js";
import type { Receiver, Reply } from "../inbox/receiver.js";
import { refusedMethod, sourceOf } from "./request-rules.js";
import type { SourceChoice } from "./request-rules.js";

/** A handler for every runtime that speaks `Request` and `Response`: Next.js, Hono, Workers, Bun, Deno. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Answers webhooks given as `Request`.
 *
 * @example
 * export const POST = fetchHandler(receiver, { source: "stripe" });
 */
export function fetchHandler(
  receiver: Receiver,
  options: { readonly source: SourceChoice<Request> },
): FetchHandler {
  return async (request) => {
    const refused = refusedMethod(request.method);
    return toResponse(refused ?? (await answer(receiver, options.source, request)));
  };
}

async function answer(receiver: Receiver, source: SourceChoice<Request>, request: Request): Promise<Reply> {
  const body = await readBody(request, receiver.maxBodyBytes);
  if (body === "too_large") return { status: 413 };
  return receiver.receive(sourceOf(source, request), {
    headers: request.headers,
    // Undefined when somebody read it before: the receiver says so, and how to mend it.
    body: body as Uint8Array,
    method: request.method,
    url: request.url,
  });
}

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | "too_large" | undefined> {
  if (request.bodyUsed) return undefined;
  if (request.body === null) return new Uint8Array();
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return "too_large";
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return "too_large";
    }
    chunks.push(next.value);
  }
  return concat(chunks);
}

function toResponse(reply: Reply): Response {
  return new Response(reply.body ?? null, { status: reply.status, headers: { ...reply.headers } });
}
