import { signal } from "@preact/signals";
import { hrefOf, navigate } from "./location.ts";

const DEFAULT_TENANT = "default";

interface InboxName {
  readonly source: string;
  readonly eventId: string;
  readonly tenant: string;
}

/** The page of an event. Ids are unique within a tenant. */
export function eventHref(id: string, tenant: string): string {
  return hrefOf(`/events/${encodeURIComponent(id)}`, tenant === DEFAULT_TENANT ? {} : { tenant });
}

export const deliveryHref = (id: string): string => hrefOf(`/deliveries/${encodeURIComponent(id)}`);
export const laneHref = (id: string): string => hrefOf(`/lanes/${encodeURIComponent(id)}`);
export const consumerHref = (id: string): string => hrefOf(`/consumers/${encodeURIComponent(id)}`);

/** Whether a lane leads to a handler in a host's process. */
export const isHandler = (id: string): boolean => id.startsWith("hnd_");

/** The page of what a lane leads to: lanes, deliveries and dead letters name handlers and endpoints by the same field. */
export function endpointHref(id: string): string {
  return isHandler(id) ? consumerHref(id) : hrefOf(`/endpoints/${encodeURIComponent(id)}`);
}

/** The page of an event of the inbox. Ids are unique within a tenant and a source, and may hold a slash. */
export function inboxHref({ source, eventId, tenant }: InboxName): string {
  const path = `/inbox/${encodeURIComponent(source)}/${encodeURIComponent(eventId)}`;
  return hrefOf(path, tenant === DEFAULT_TENANT ? {} : { tenant });
}

export const sourceHref = (name: string): string => hrefOf(`/sources/${encodeURIComponent(name)}`);
export const rejectedHref = (id: string): string => hrefOf(`/rejected/${encodeURIComponent(id)}`);

export const operationHref = (id: string): string => hrefOf(`/operations/${encodeURIComponent(id)}`);

/** The pages of the list that one came from, for `j` and `k` inside of one of them. */
export const walk = signal<readonly string[]>([]);

/** Where this page stands in that list. */
export function walkPlace(): { readonly at: number; readonly of: number } | undefined {
  const at = walk.value.indexOf(location.pathname + location.search);
  return at === -1 ? undefined : { at: at + 1, of: walk.value.length };
}

/** Goes to the next or the previous page of that list. */
export function walkBy(step: 1 | -1): void {
  const place = walkPlace();
  const href = place === undefined ? undefined : walk.value[place.at - 1 + step];
  if (href !== undefined) navigate(href);
}

/** A word for the shell, quoted where it has to be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
