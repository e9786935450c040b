import type { OptionNames } from "../known-options.js";
import { checkDate, checkNames, invalid, isObject, kindOf, shown } from "./check-asked.js";
import type { DeadFilter, DeadGroupFilter } from "./dead-filter.js";
import type { HeldFilter } from "./held-store.js";
import type { InboxFilter, InboxPrefix, RefusedFilter } from "./inbox-view-store.js";
import type { Page } from "./operator-store.js";
import type { EventWish } from "./provider-id.js";

// Callers without types can misspell anything. Passed over, a filter would find every row, an order would be the other one, and
// the verb that follows would be done to what nobody meant.

const GROUP: OptionNames<DeadGroupFilter> = {
  tenant: true,
  endpointId: true,
  because: true,
  status: true,
  error: true,
};

const PAGE: OptionNames<Page> = { limit: true, after: true };

const INBOX: OptionNames<InboxFilter> = {
  tenant: true,
  source: true,
  consumer: true,
  outcome: true,
  type: true,
  since: true,
  until: true,
  order: true,
};
const PREFIX: OptionNames<InboxPrefix> = { tenant: true, source: true, prefix: true };
const REFUSED: OptionNames<RefusedFilter> = { tenant: true, source: true, id: true, because: true };
const HELD: OptionNames<HeldFilter> = { tenant: true, source: true, key: true };
const EVENTS: OptionNames<EventWish> = {
  tenant: true,
  source: true,
  type: true,
  key: true,
  since: true,
  until: true,
  providerId: true,
};
const DEAD: OptionNames<DeadFilter> = {
  ...GROUP,
  key: true,
  since: true,
  until: true,
  upTo: true,
  order: true,
};

/** The verbs that take a filter. */
export type FilteringVerb =
  | "events"
  | "lanes"
  | "deadLetters"
  | "deadSummary"
  | "deadGroups"
  | "inboxRows"
  | "inboxByPrefix"
  | "refusedEvents"
  | "held";

const FILTERS: Readonly<Record<FilteringVerb, Readonly<object>>> = {
  events: EVENTS,
  lanes: { endpointId: true },
  deadLetters: DEAD,
  deadSummary: DEAD,
  deadGroups: GROUP,
  inboxRows: INBOX,
  inboxByPrefix: PREFIX,
  refusedEvents: REFUSED,
  held: HELD,
};

const VALUES: Readonly<Record<string, readonly string[]>> = {
  order: ["newest", "oldest"],
  outcome: ["success", "skipped", "dropped", "failed", "pending"],
};
const REFUSED_BECAUSE = ["conflict", "stale"];

/** A filter whose every name is known, and its order and outcome, too. */
export function checkFilter(verb: FilteringVerb, filter: object): void {
  const of = `the filter of ${verb}`;
  checkNames(of, filter, FILTERS[verb]);
  const asked = filter as Readonly<Record<string, unknown>>;
  for (const [name, values] of Object.entries(VALUES)) checkOneOf(name, asked[name], values);
  if (verb === "refusedEvents") checkOneOf("because", asked["because"], REFUSED_BECAUSE);
  checkDate("since", asked["since"]);
  checkDate("until", asked["until"]);
}

/** What the rows of a prefix need, all three: without the prefix, they would be those of the whole source. */
export function checkPrefix(prefix: InboxPrefix): void {
  checkFilter("inboxByPrefix", prefix);
  const missing = Object.keys(PREFIX).find((name) => typeof prefix[name as keyof InboxPrefix] !== "string");
  if (missing !== undefined) throw invalid(`inboxByPrefix: ${missing} is missing; expected a text`);
}

/** A part of a list, whose names are known. */
export function checkPage(verb: string, page: Partial<Page>): void {
  checkNames(`the page of ${verb}`, page, PAGE);
  if (Number.isNaN(Math.trunc(page.limit ?? 1)))
    throw invalid(`limit of the page of ${verb} is ${shown(page.limit)}; expected a whole number`);
}

const RETRY = {
  endpointId: true,
  laneId: true,
  deliveryId: true,
};

/** One of the three ways to say what is to be tried. */
export function checkRetry(what: object): void {
  checkNames("retry", what, RETRY);
  const named = Object.entries(what).filter(([, value]) => value !== undefined);
  if (named.length === 1) return;
  const found = named.length === 0 ? "nothing" : named.map(([name]) => name).join(" and ");
  throw invalid(`retry is told ${found}; expected one of { endpointId }, { laneId } and { deliveryId }`);
}

/** Letters in the rounds in which they are meant: without its round, one that has died again would be redriven once more. */
export function checkLetters(letters: unknown): void {
  if (!Array.isArray(letters))
    throw invalid(`redriveAll is given ${kindOf(letters)}; expected a list of { id, round }`);
  const odd = letters.findIndex(
    (each: unknown) =>
      !isObject(each) || typeof each["id"] !== "string" || !Number.isSafeInteger(each["round"]),
  );
  if (odd !== -1)
    throw invalid(`redriveAll: letter ${odd + 1} has no id or no round; expected { id, round }`);
}

function checkOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return;
  throw invalid(
    `${name} is ${shown(value)}; expected ${values.slice(0, -1).join(", ")} or ${values.at(-1) ?? ""}`,
  );
}
