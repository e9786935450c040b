import type { Found, Story } from "posthorn/client";
import { idName } from "posthorn/gateway";
import type { StoredEvent } from "posthorn/operator";
import type { ApiParts } from "./api-parts.js";

type FindParts = Pick<ApiParts, "outbox" | "registry">;

export interface FoundEvent {
  readonly event: StoredEvent;
  readonly foundBy: Story["foundBy"];
}

const MOST_SOURCES = 1000;

/**
 * The events of an id: our own (which endpoints get as `webhook-id`), a delivery's, or the one that its provider gave. Without
 * a tenant, of all of them: whoever looks for an event at night need not know whose it is.
 */
export async function findEvents(
  parts: FindParts,
  tenant: string | undefined,
  id: string,
): Promise<readonly FoundEvent[]> {
  const { outbox } = parts;
  const owners = tenant === undefined ? await outbox.tenantsOf(id) : [tenant];
  const own = await readEach(outbox, owners, id);
  if (own.length > 0) return own.map((event) => ({ event, foundBy: "event_id" }));
  const delivery = id.startsWith("dlv_") ? await outbox.delivery(id) : undefined;
  if (delivery !== undefined) {
    const event = await outbox.event(delivery.tenant, delivery.eventId);
    if (event !== undefined) return [{ event, foundBy: "delivery_id" }];
  }
  return byProviderId(parts, tenant, id);
}

async function byProviderId(
  { outbox, registry }: FindParts,
  tenant: string | undefined,
  id: string,
): Promise<readonly FoundEvent[]> {
  const sources = await registry.listSources({ limit: MOST_SOURCES });
  const names = sources.map(({ name }) => idName(name, id));
  const owners = tenant === undefined ? [...new Set(sources.map((source) => source.tenant))] : [tenant];
  const found = await Promise.all(
    owners.map(async (owner) => {
      const [named] = await outbox.namedEvents(owner, names);
      return named === undefined ? [] : readEach(outbox, [owner], named);
    }),
  );
  return found.flat().map((event) => ({ event, foundBy: "provider_id" }));
}

async function readEach(
  outbox: FindParts["outbox"],
  tenants: readonly string[],
  id: string,
): Promise<readonly StoredEvent[]> {
  const events = await Promise.all(tenants.map((tenant) => outbox.event(tenant, id)));
  return events.filter((event) => event !== undefined);
}

// A whole curl has about so many words.
const MOST_WORDS = 20;
const MOST_FOUND = 20;
const LEAST_PREFIX = 6;

/** The words of a pasted text that could be an id: of a header line, a URL or a whole curl. */
export function wordsOf(text: string): readonly string[] {
  const words = text
    .split(/[\s"'`,;|<>()[\]{}\\=?&]+|:\s|\/+/)
    .map((word) => word.replace(/[:.]+$/, ""))
    .filter((word) => word.length >= 1 && word.length <= 255 && !word.startsWith("-"));
  // A whole id may hold what separates words elsewhere.
  return [...new Set([text.trim().slice(0, 255), ...words])]
    .filter((word) => word !== "")
    .slice(0, MOST_WORDS);
}

/** What the words of a text lead to; without a tenant, of all of them. */
export async function search(
  parts: ApiParts,
  tenant: string | undefined,
  text: string,
): Promise<readonly Found[]> {
  const found = new Map<string, Found>();
  const add = (each: Found): void => {
    if (found.size < MOST_FOUND) found.set(`${each.kind} ${each.tenant ?? ""} ${each.id}`, each);
  };
  for (const word of wordsOf(text)) {
    for (const each of await searchWord(parts, tenant, word)) add(each);
    if (found.size >= MOST_FOUND) break;
  }
  return [...found.values()];
}

async function searchWord(
  parts: ApiParts,
  tenant: string | undefined,
  word: string,
): Promise<readonly Found[]> {
  const { outbox, registry } = parts;
  const [events, delivery, lane, endpoints, source, rejected] = await Promise.all([
    findEvents(parts, tenant, word),
    word.startsWith("dlv_") ? outbox.delivery(word) : undefined,
    /^\d{1,18}$/.test(word) ? outbox.lane(BigInt(word)) : undefined,
    /^[\w-]{1,64}$/.test(word) ? outbox.readEndpoints([word]) : [],
    /^[a-z0-9][a-z0-9_-]{0,63}$/.test(word) ? registry.readSource(word) : undefined,
    word.startsWith("rej_") ? registry.readRejected(word) : undefined,
  ]);
  // The index of ids begins with the tenant: the beginning of an id is looked for in one.
  const prefixTenant = tenant ?? "default";
  const prefixed =
    events.length === 0 && word.length >= LEAST_PREFIX && /^[\x21-\x7e]+$/.test(word)
      ? await outbox.eventIds(prefixTenant, word, 5)
      : [];
  return [
    ...(delivery === undefined
      ? []
      : [
          of(
            "delivery",
            delivery.id,
            delivery.tenant,
            `${delivery.type} at ${delivery.endpointId}, ${delivery.state}`,
          ),
        ]),
    ...events.map(eventFound),
    ...(lane === undefined
      ? []
      : [of("lane", lane.id.toString(), lane.tenant, `${lane.endpointId} · ${lane.key}, ${lane.state}`)]),
    ...endpoints.map(({ id, tenant: owner, url }) => of("endpoint", id, owner, url)),
    ...(source === undefined ? [] : [of("source", source.name, source.tenant, source.scheme)]),
    ...(rejected === undefined
      ? []
      : [of("rejected", rejected.id, null, `${rejected.source}: ${rejected.code}`)]),
    ...prefixed.map((id): Found => ({
      kind: "event",
      id,
      tenant: prefixTenant,
      text: id,
      foundBy: "id_prefix",
    })),
  ];
}

function of(kind: Found["kind"], id: string, tenant: string | null, text: string): Found {
  return { kind, id, tenant, text, foundBy: "id" };
}

function eventFound({ event, foundBy }: FoundEvent): Found {
  const { id, tenant, source, type } = event;
  const how = foundBy === "provider_id" ? "provider_id" : "id";
  return { kind: "event", id, tenant, text: `${type} from ${source}`, foundBy: how };
}
