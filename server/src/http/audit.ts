import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AuditEntry, OperationActor } from "posthorn/client";
import { newId, parseLaneId } from "posthorn/gateway";
import type { ApiParts } from "./api-parts.js";
import { actionOf } from "./audit-action.js";
import type { AuditedAction } from "./audit-action.js";
import { tokenOf } from "./auth/token-check.js";
import { problem } from "./problem.js";
import { readConsumer } from "./read-consumer.js";
import { showDelivery } from "./resources/delivery.js";
import { showEndpoint } from "./resources/endpoint.js";
import { showLane } from "./resources/lane.js";
import { showHeld } from "./resources/held.js";
import { showSource } from "./resources/source.js";
import { showToken } from "./resources/token.js";

/** An entry that was begun with its request. */
interface Begun {
  readonly id: string;
  readonly audited: AuditedAction;
  readonly subject: string | null;
}

const begun = new WeakMap<FastifyRequest, Begun>();
const notes = new WeakMap<FastifyRequest, string>();
const MOST_NOTE = 1000;

/**
 * Records every change that is asked for: before it is made, so that none is made without a record, and again when its
 * answer is known. Any route that is no GET is a change, also one that is added later. To be called behind the token hook.
 */
export function registerAudit(api: FastifyInstance, parts: ApiParts): void {
  api.addHook("preValidation", (request, _reply, done) => {
    if (actionOfRequest(request) !== undefined) takeNote(request);
    done();
  });
  api.addHook("preHandler", async (request) => {
    const audited = actionOfRequest(request);
    if (audited === undefined) return;
    const [subject = null] = Object.values((request.params ?? {}) as Record<string, string>);
    const id = newId("aud", parts.clock.now());
    const before = subject === null ? null : await stateOf(parts, audited.kind, subject);
    await parts.registry.audit.beginAudit({
      id,
      at: new Date(parts.clock.now()).toISOString(),
      by: actorOf(request),
      action: audited.action,
      subject: { kind: audited.kind, id: subject },
      before,
      note: noteOf(request) ?? null,
      requestId: request.id,
    });
    begun.set(request, { id, audited, subject });
  });
  api.addHook("onSend", async (request, reply, payload) => {
    const entry = begun.get(request);
    if (entry !== undefined) {
      const subject = await endEntry(parts, entry, { reply, payload });
      const { audited } = entry;
      const { name, token, via } = actorOf(request);
      const facts = { action: audited.action, subject, by: name, token, via, status: reply.statusCode };
      parts.log.info({ ...facts, request: request.id }, "operator");
    }
    return payload;
  });
}

/** Who asks. */
export function actorOf(request: FastifyRequest): OperationActor {
  const { id, name } = tokenOf(request);
  return { token: id, name, via: request.headers.authorization === undefined ? "session" : "token" };
}

/** Why it is asked for, where the body said so. */
export function noteOf(request: FastifyRequest): string | undefined {
  return notes.get(request);
}

function actionOfRequest({ method, routeOptions }: FastifyRequest): AuditedAction | undefined {
  return actionOf(method, (routeOptions.url ?? "").replace(/^.*?\/api\/v1/, ""));
}

/** Every change takes a note in its body, whatever else the body holds. */
function takeNote(request: FastifyRequest): void {
  const body = request.body as Record<string, unknown> | null | undefined;
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "note")) return;
  const { note, ...rest } = body;
  if (note !== null && (typeof note !== "string" || note.length > MOST_NOTE)) {
    throw problem("request_invalid", `\`note\` is not a text of up to ${MOST_NOTE} characters.`, {
      field: "note",
    });
  }
  if (typeof note === "string") notes.set(request, note.replaceAll("\0", ""));
  request.body = rest;
}

/** Says what the change was made to: of something new, its name is known by the answer. */
async function endEntry(
  parts: ApiParts,
  { id, audited, subject }: Begun,
  { reply, payload }: { readonly reply: FastifyReply; readonly payload: unknown },
): Promise<string | null> {
  const status = reply.statusCode;
  const made = subject ?? (status < 300 ? nameIn(payload) : null);
  try {
    const after = made === null || status >= 300 ? null : await stateOf(parts, audited.kind, made);
    await parts.registry.audit.endAudit(id, { subject: made, after, status });
  } catch (error) {
    // The change is made, and its record says that its end is not known.
    parts.log.error({ err: error, audit: id }, "the end of an audited change was not written");
  }
  return made;
}

/** The name of what was made, by the answer that shows it. */
function nameIn(payload: unknown): string | null {
  if (typeof payload !== "string" || payload === "") return null;
  const { id, name } = JSON.parse(payload) as { readonly id?: unknown; readonly name?: unknown };
  const found = id ?? name;
  return typeof found === "string" ? found : null;
}

type State = AuditEntry["before"];

/** A resource as the API shows it, which is without secrets. */
async function stateOf(parts: ApiParts, kind: string, id: string): Promise<State> {
  const found = await readState(parts, kind, id);
  return found === undefined ? null : (found as unknown as State);
}

async function readState(parts: ApiParts, kind: string, id: string): Promise<object | undefined> {
  const { registry, outbox, sender } = parts;
  switch (kind) {
    case "endpoint":
      return shownAs(await sender.endpoints.get(id), showEndpoint);
    case "source":
      return shownAs(await registry.readSource(id), (source) => showSource(source, parts.settings.publicUrl));
    case "token":
      return shownAs(await findToken(parts, id), showToken);
    case "delivery":
      return shownAs(await outbox.delivery(id), showDelivery);
    case "lane": {
      const laneId = parseLaneId(id);
      return laneId === undefined ? undefined : shownAs(await outbox.lane(laneId), showLane);
    }
    case "operation":
      return shownAs(await registry.operations.readOperation(id), ({ verb, state, rate, done, filter }) => ({
        verb,
        state,
        rate,
        done,
        filter,
      }));
    case "consumer":
      return readConsumer(parts, id).catch(() => undefined);
    case "held":
      return readHeld(parts, id);
    case "dead_group":
      return shownAs((await registry.audit.readNotes([id]))[0], ({ text, by }) => ({ note: text, by }));
    default:
      return undefined;
  }
}

/** Of the first tenant that has it: an id of ours is given once. */
async function readHeld({ outbox, clock }: ApiParts, id: string): Promise<object | undefined> {
  for (const tenant of await outbox.tenantsOf(id)) {
    const found = await outbox.heldEvent(tenant, id);
    if (found !== undefined) return showHeld(found, clock.now());
  }
  return undefined;
}

function shownAs<T>(found: T | undefined, show: (found: T) => object): object | undefined {
  return found === undefined ? undefined : show(found);
}

const PAGE = 1000;

async function findToken({ registry }: ApiParts, id: string) {
  for (let after: string | undefined; ;) {
    const page = await registry.listTokens({ after, limit: PAGE });
    const found = page.find((token) => token.id === id);
    if (found !== undefined || page.length < PAGE) return found;
    after = page.at(-1)?.id;
  }
}
