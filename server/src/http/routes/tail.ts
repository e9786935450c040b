import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { TailKind, TailMessage, TailQuery } from "posthorn/client";
import { repeat } from "posthorn/gateway";
import type { Missed } from "../../observe/tail.js";
import type { ApiParts } from "../api-parts.js";
import { isStillAllowed } from "../auth/token-check.js";
import { problem, shown } from "../problem.js";
import { PLAIN_TEXT, query, routeSchema } from "../route-schema.js";

/** A proxy that hears nothing for a minute ends the connection; a token that was revoked is noticed this late. */
export const BEAT_MS = 10_000;
const MOST_STREAMS = 100;
// A reader that is slower than what happens is let go; it comes back and is told what it has missed.
const MOST_UNREAD_BYTES = 1024 * 1024;

const KINDS: readonly TailKind[] = [
  "stored",
  "duplicate",
  "conflict",
  "rejected",
  "published",
  "attempted",
  "dead",
  "endpoint_disabled",
];

type Asked = Omit<TailQuery, "kind"> & { readonly kind?: string };

/** /tail: what happens on this node, as it happens, as server-sent events. */
export function registerTail(api: FastifyInstance, parts: ApiParts): void {
  const streams = new Set<Readable>();
  api.get<{ Querystring: Asked }>("/tail", { schema: TAIL }, async (request, reply) => {
    if (streams.size >= MOST_STREAMS) {
      throw problem("not_ready", `${MOST_STREAMS} others follow this node already. Try again later.`, {
        retryAfterS: 30,
      });
    }
    const wanted = filterOf(request.query);
    const stream = openStream(parts, request, wanted);
    streams.add(stream);
    stream.once("close", () => streams.delete(stream));
    // A proxy that gathers bytes before it sends them on would hold each message back.
    return reply.header("x-accel-buffering", "no").type("text/event-stream; charset=utf-8").send(stream);
  });
  // Otherwise a stop of the node would wait for those who follow.
  api.addHook("preClose", (done) => {
    for (const stream of streams) stream.push(null);
    done();
  });
}

type Wanted = (message: TailMessage) => boolean;

/** Whether a message is asked for. */
export function filterOf({ kind, source, endpoint, type }: Asked): Wanted {
  const kinds = kind?.split(",") ?? KINDS;
  const unknown = kinds.find((each) => !KINDS.some((known) => known === each));
  if (unknown !== undefined) {
    throw problem("request_invalid", `${shown(unknown)} is no kind; there are ${KINDS.join(", ")}.`, {
      field: "kind",
    });
  }
  return (message) =>
    kinds.includes(message.kind) &&
    (source === undefined || message.source === source) &&
    (endpoint === undefined || message.endpointId === endpoint) &&
    (type === undefined || message.type === type);
}

function openStream(
  parts: ApiParts,
  request: FastifyRequest<{ Querystring: Asked }>,
  wanted: Wanted,
): Readable {
  const { activity, clock, tokens, sessions } = parts;
  const stream = new Readable({ read: () => undefined });
  const ended = new AbortController();
  const write = (text: string): void => {
    if (stream.readableLength > MOST_UNREAD_BYTES) stream.push(null);
    if (!stream.readableEnded && !ended.signal.aborted) stream.push(text);
  };
  const tell = (message: TailMessage): void => {
    if (wanted(message)) write(eventText("message", message, message.id));
  };
  write(": what happens on this node\n\n");
  const after = request.query.after ?? request.headers["last-event-id"];
  const missed = typeof after === "string" ? activity.tail.after(after) : undefined;
  if (missed !== undefined) tellMissed(missed, write, tell);
  const leave = activity.tail.listen(tell);
  stream.once("close", () => {
    ended.abort();
    leave();
  });
  void repeat({
    everyMs: BEAT_MS,
    clock,
    signal: ended.signal,
    work: async () => {
      if (await isStillAllowed(request, tokens, sessions)) write(": beat\n\n");
      else stream.push(null);
    },
    failed: () => stream.push(null),
  });
  return stream;
}

function tellMissed(
  { lost, messages }: Missed,
  write: (text: string) => void,
  tell: (message: TailMessage) => void,
): void {
  if (lost === undefined || lost > 0) write(eventText("gap", { kind: "gap", lost: lost ?? null }));
  for (const message of messages) tell(message);
}

/** One server-sent event. JSON has no line break, which would end it. */
function eventText(name: "message" | "gap", data: object, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

const TAIL = routeSchema({
  operationId: "tail",
  summary:
    "What happens on the node that answers, as server-sent events: `message` with a TailMessage, `gap` where some were missed. Goes on after `after`, or the header `last-event-id`.",
  tag: "tail",
  querystring: query({
    kind: { ...PLAIN_TEXT, description: `Some of ${KINDS.join(", ")}, with commas between them.` },
    source: PLAIN_TEXT,
    endpoint: PLAIN_TEXT,
    type: PLAIN_TEXT,
    after: { ...PLAIN_TEXT, description: "The id of the last message that was read." },
  }),
  answers: {
    200: {
      description: "A stream that ends with the session, the token or the node.",
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
  },
});
