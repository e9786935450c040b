import type { FastifyInstance } from "fastify";
import type { Forgot, InboxRedriven } from "posthorn/client";
import { handlerId, inboxName } from "posthorn/gateway";
import type { InboxRecord, RefusedRecord } from "posthorn/operator";
import type { ApiParts } from "../api-parts.js";
import { notFound, problem } from "../problem.js";
import { MAYBE_TEXT, whole } from "../resources/text.js";
import { PLAIN_TEXT, routeSchema } from "../route-schema.js";
import { EVENT_PARAM, eventNamed } from "./inbox.js";

const tag = "inbox";
const DEFAULT_TENANT = "default";
const MOST_REFUSED = 1000;

interface Redrive {
  readonly Params: { readonly id: string };
  readonly Body: { readonly tenant?: string; readonly consumer?: string; readonly refused?: string };
}

interface Forget {
  readonly Params: { readonly id: string };
  readonly Body: { readonly tenant?: string };
}

/** Deeds to one event of the inbox. Many that were applied are replayed by an operation. */
export function registerInboxDeeds(api: FastifyInstance, parts: ApiParts): void {
  api.post<Redrive>(
    "/inbox/:id/redrive",
    { schema: REDRIVE, preValidation: bodyOptional },
    ({ params, body }) => redrive(parts, params.id, body),
  );
  api.post<Forget>(
    "/inbox/:id/forget",
    { schema: FORGET, preValidation: bodyOptional },
    async ({ params, body: { tenant = DEFAULT_TENANT } }): Promise<Forgot> => {
      const { source, eventId } = eventNamed(params.id);
      const forgotten = await parts.operator.forget(tenant, source, eventId);
      switch (forgotten.kind) {
        case "forgotten":
          return { rows: forgotten.rows, names: forgotten.names };
        case "unknown":
          throw notFound("event in the inbox", params.id);
        case "busy":
          throw problem(
            "conflict",
            "A handler of this event runs at this moment. Nothing was changed; try again.",
          );
        case "pending":
          throw problem("conflict", "This event is to be handled again already. Nothing was changed.");
      }
    },
  );
}

function bodyOptional(request: { body?: unknown }, _reply: unknown, done: () => void): void {
  request.body ??= {};
  done();
}

async function redrive(parts: ApiParts, id: string, asked: Redrive["Body"]): Promise<InboxRedriven> {
  const { outbox, operator } = parts;
  const { source, eventId } = eventNamed(id);
  const { tenant = DEFAULT_TENANT, consumer, refused } = asked;
  if (refused !== undefined) return redriveRefused(parts, { tenant, source, id: eventId }, refused);
  const rows = (await outbox.inboxRowsOf(tenant, source, eventId)).filter(
    (row) => consumer === undefined || row.consumer === inboxName(consumer),
  );
  if (rows.length === 0) throw notFound("event in the inbox, at this consumer,", id);
  const results = await operator.redriveInbox(rows);
  return { items: rows.map((row, n) => itemOf(row, results[n] ?? "unknown")) };
}

function itemOf({ consumer, storedAs }: InboxRecord, result: string): InboxRedriven["items"][number] {
  return { consumerId: handlerId(consumer), eventId: storedAs ?? null, result };
}

/** By the beginning of the body's hash: one id may be refused with several bodies. */
async function redriveRefused(
  { outbox, operator }: ApiParts,
  event: Pick<RefusedRecord, "tenant" | "source" | "id">,
  hash: string,
): Promise<InboxRedriven> {
  const { items } = await outbox.refusedEvents(event, { limit: MOST_REFUSED });
  const meant = items.filter(({ bodyHash }) => Buffer.from(bodyHash).toString("hex").startsWith(hash));
  const [only] = meant;
  if (only === undefined) throw notFound("refused event", `${event.source}/${event.id} ${hash}`);
  if (meant.length > 1) {
    throw problem("request_invalid", "Several bodies begin so: name more of the hash.", { field: "refused" });
  }
  const redriven = await operator.redriveRefused(only);
  const eventId = "eventId" in redriven ? redriven.eventId : null;
  return { items: [{ consumerId: null, eventId, result: redriven.kind }] };
}

const REDRIVE = routeSchema({
  operationId: "redriveInboxEvent",
  summary: "Lets handlers handle what failed or was skipped, or with `refused` a conflict or a stale event.",
  tag,
  params: EVENT_PARAM,
  body: {
    type: "object",
    additionalProperties: false,
    properties: {
      tenant: PLAIN_TEXT,
      consumer: { ...PLAIN_TEXT, description: "Only at this one." },
      refused: {
        type: "string",
        pattern: "^[0-9a-f]{4,64}$",
        description: "The beginning of the hash of a body that was refused.",
      },
    },
  },
  answers: {
    200: whole<InboxRedriven>({
      items: {
        type: "array",
        items: whole<InboxRedriven["items"][number]>({
          consumerId: MAYBE_TEXT,
          eventId: MAYBE_TEXT,
          result: { type: "string", description: "`staged`, or why not." },
        }),
      },
    }),
  },
});

const FORGET = routeSchema({
  operationId: "forgetInboxEvent",
  summary: "Forgets an event: when its provider sends it again, it is applied as a new one.",
  tag,
  params: EVENT_PARAM,
  body: { type: "object", additionalProperties: false, properties: { tenant: PLAIN_TEXT } },
  answers: { 200: whole<Forgot>({ rows: { type: "integer" }, names: { type: "integer" } }) },
});
