import { elements, field, jsonObject, members, textField } from "../json.js";
import type { OptionNames } from "../known-options.js";
import type { DeliveryLog, LogEntry, LoggedRequest, LogPage, LogRequest } from "./delivery-log.js";
import { oddEntry, timesOf } from "./odd-entries.js";
import type { ApiOptions, ApiToken } from "./provider-api.js";
import { API_OPTIONS, checkOptionNames, invalidOption, readApi, unreadable } from "./provider-api.js";

/** How the events of a Stripe account are read. */
export interface StripeLogOptions extends ApiOptions {
  /** A restricted key that may read events is enough. */
  readonly apiKey: ApiToken;
  /** The connected account whose events are read. @default the key's own */
  readonly account?: string;
  /** The API version of the webhook endpoint, so that both write events alike. @default the account's */
  readonly apiVersion?: string;
  /** The types of the endpoint, where it has not all: at most 20. @default all */
  readonly types?: readonly string[];
  /**
   * Bytes of events that a run holds in memory until it has read the list to its end; those beyond are asked for one by one.
   * @default 67,108,864
   */
  readonly maxKeptBytes?: number;
  /** @default "https://api.stripe.com" */
  readonly baseUrl?: string;
}

const OPTIONS: OptionNames<StripeLogOptions> = {
  ...API_OPTIONS,
  apiKey: true,
  account: true,
  apiVersion: true,
  types: true,
  maxKeptBytes: true,
  baseUrl: true,
};
const TITLE = "Stripe";
const BASE_URL = "https://api.stripe.com";
const KEPT_MS = 30 * 24 * 3_600_000;
const PAGE = 100;
const MAX_TYPES = 20;
const MAX_LIST_BYTES = 32 * 1024 * 1024;
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * The events of a Stripe account, which Stripe lists for 30 days.
 *
 * @example
 * const log = stripeLog({ egress, apiKey: process.env.STRIPE_RESTRICTED_KEY ?? "" });
 */
export function stripeLog(options: StripeLogOptions): DeliveryLog {
  checkOptionNames("stripeLog", options, OPTIONS);
  const { types = [], account, baseUrl = BASE_URL, maxKeptBytes = KEPT_BYTES } = options;
  if (types.length > MAX_TYPES)
    throw invalidOption(`types has ${types.length}; Stripe takes at most ${MAX_TYPES}.`);
  const { name = `${baseUrl} ${account ?? "the key's own account"}` } = options;
  if (!(maxKeptBytes >= 0)) throw invalidOption(`maxKeptBytes is ${maxKeptBytes}; expected 0 or more.`);
  let room = maxKeptBytes;
  // The oldest event, which is applied first, is listed last: 20,000 events with long invoices would fill the memory until then.
  const load = (slice: Uint8Array, loadOne: Loading): Loading => {
    if (slice.length > room) return loadOne;
    room -= slice.length;
    // A slice of the page would keep all of it, also where one event of it is left.
    const body = slice.slice();
    return () => Promise.resolve({ headers: {}, body });
  };
  return {
    title: TITLE,
    name,
    keptMs: KEPT_MS,
    page(request) {
      if (request.next === undefined) room = maxKeptBytes;
      return page(options, request, load);
    },
  };
}

type Loading = LogEntry["load"];

async function page(
  options: StripeLogOptions,
  { since, next, signal }: LogRequest,
  load: (slice: Uint8Array, loadOne: Loading) => Loading,
): Promise<LogPage> {
  const { types = [] } = options;
  const query = new URLSearchParams([
    ["limit", String(PAGE)],
    // Whole seconds, and the first of them counts: an event of the same second must not be left out.
    ["created[gte]", String(Math.floor(since.getTime() / 1000))],
    ...types.map((type): [string, string] => ["types[]", type]),
    ...(next === undefined ? [] : [["starting_after", next] as [string, string]]),
  ]);
  const { body } = await ask(options, `?${query.toString()}`, MAX_LIST_BYTES, signal);
  const data = members(body)?.findLast(({ name }) => name === "data")?.value;
  const list = data && elements(data);
  if (list === undefined) throw unreadable(TITLE, "sent something else than a list of events");
  const events = list.map(jsonObject);
  const times = timesOf(TITLE, events.map(timeOf));
  const ids = events.map((event) => textField(event, "id"));
  const entries = list.map((slice, n): LogEntry => {
    const [id, at] = [ids[n], times[n] as Date];
    if (id === undefined) return oddEntry(TITLE, `an event of ${at.toISOString()}`, at);
    return { id, at, load: load(slice, () => loadEvent(options, id, signal)) };
  });
  if (field(jsonObject(body), "has_more") !== true) return { entries, next: undefined };
  const last = ids.findLast((id) => id !== undefined);
  if (last === undefined && list.length > 0)
    throw unreadable(TITLE, "listed no event with an id, and says that there are more");
  return { entries, next: last };
}

async function loadEvent(
  options: StripeLogOptions,
  id: string,
  signal: LogRequest["signal"],
): Promise<LoggedRequest> {
  const { body } = await ask(options, `/${encodeURIComponent(id)}`, MAX_LIST_BYTES, signal);
  return { headers: {}, body };
}

function ask(
  options: StripeLogOptions,
  rest: string,
  maxAnswerBytes: number,
  signal: LogRequest["signal"],
): ReturnType<typeof readApi> {
  const { apiKey: token, account, apiVersion, baseUrl = BASE_URL } = options;
  const headers = {
    ...(account === undefined ? {} : { "stripe-account": account }),
    ...(apiVersion === undefined ? {} : { "stripe-version": apiVersion }),
  };
  const url = `${baseUrl.replace(/\/+$/, "")}/v1/events${rest}`;
  return readApi(TITLE, options, { url, token, headers, maxAnswerBytes, signal });
}

function timeOf(event: Parameters<typeof field>[0]): Date {
  const created = field(event, "created");
  return new Date(typeof created === "number" ? created * 1000 : Number.NaN);
}
