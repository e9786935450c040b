import { utf8 } from "../bytes.js";
import type { Receiver } from "../inbox/receiver.js";
import { readBody, serveFetch } from "./fetch.js";
import { checkDoor, doubtOfText } from "./request-rules.js";
import type { BodyReading } from "./request-rules.js";

/** What of Hono's context is used here. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request;
    param(name: string): string | undefined;
    /** What was read of the body before, by form. */
    readonly bodyCache?: object;
  };
}

/** A handler for Hono's routes. */
export type HonoHandler = (context: HonoContext) => Promise<Response>;

const DOOR = {
  name: "webhooks of posthorn/hono",
  otherwise: "the route's parameter `source`",
  byFunction: false,
} as const;
const CURE =
  "a validator or middleware read the body before. Mount the webhooks before it, or keep it off their path";

/**
 * Answers webhooks. The route's parameter `source` names the source, unless `options.source` does.
 *
 * @example
 * app.post("/webhooks/:source", webhooks(receiver));
 */
export function webhooks<Source extends string>(
  receiver: Receiver<Source>,
  options: { readonly source?: NoInfer<Source> } = {},
): HonoHandler {
  checkDoor(DOOR, receiver, options);
  return (context) => {
    const source = options.source ?? context.req.param("source") ?? "unknown";
    return serveFetch(
      { receiver, source, read: (request, maxBytes) => readHono(context, request, maxBytes) },
      context.req.raw,
    );
  };
}

/** The stream, or the exact bytes or the text that Hono kept of it. */
async function readHono({ req }: HonoContext, request: Request, maxBytes: number): Promise<BodyReading> {
  if (!request.bodyUsed) return readBody(request, maxBytes);
  const { arrayBuffer, blob, text, ...others } = (req.bodyCache ?? {}) as {
    arrayBuffer?: Promise<ArrayBuffer>;
    blob?: Promise<Blob>;
    text?: Promise<string>;
  };
  const exact = arrayBuffer ?? blob?.then((kept) => kept.arrayBuffer());
  if (exact !== undefined) return { kind: "bytes", bytes: new Uint8Array(await exact) };
  if (text !== undefined) {
    const kept = await text;
    return { kind: "bytes", bytes: utf8(kept), doubt: doubtOfText(kept, CURE) };
  }
  // What c.req.arrayBuffer() gives out now is JSON.stringify of the parsed body, and would look like a bad signature.
  return { kind: Object.keys(others).length > 0 ? "parsed" : "consumed", cure: CURE };
}
