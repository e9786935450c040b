import { elements, field, jsonObject, members, textField } from "../json.js";
import type { DeliveryLog, LogEntry, LogPage, LogRequest } from "./delivery-log.js";
import type { ApiOptions, ApiToken } from "./provider-api.js";
import { invalidOption, readApi, unreadable } from "./provider-api.js";

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
  /** @default "https://api.stripe.com" */
  readonly baseUrl?: string;
}

const TITLE = "Stripe";
const BASE_URL = "https://api.stripe.com";
const KEPT_MS = 30 * 24 * 3_600_000;
const PAGE = 100;
const MAX_TYPES = 20;
const MAX_LIST_BYTES = 32 * 1024 * 1024;

/**
 * The events of a Stripe account, which Stripe lists for 30 days.
 *
 * @example
 * const log = stripeLog({ egress, apiKey: process.env.STRIPE_RESTRICTED_KEY ?? "" });
 */
export function stripeLog(options: StripeLogOptions): DeliveryLog {
  const { types = [], account, baseUrl = BASE_URL } = options;
  if (types.length > MAX_TYPES)
    throw invalidOption(`types has ${types.length}; Stripe takes at most ${MAX_TYPES}.`);
  const { name = `${baseUrl} ${account ?? "the key's own account"}` } = options;
  return { title: TITLE, name, keptMs: KEPT_MS, page: (request) => page(options, request) };
}

async function page(options: StripeLogOptions, { since, next, signal }: LogRequest): Promise<LogPage> {
  const { apiKey, account, apiVersion, types = [], baseUrl = BASE_URL } = options;
  const query = new URLSearchParams([
    ["limit", String(PAGE)],
    // Whole seconds, and the first of them counts: an event of the same second must not be left out.
    ["created[gte]", String(Math.floor(since.getTime() / 1000))],
    ...types.map((type): [string, string] => ["types[]", type]),
    ...(next === undefined ? [] : [["starting_after", next] as [string, string]]),
  ]);
  const headers = {
    ...(account === undefined ? {} : { "stripe-account": account }),
    ...(apiVersion === undefined ? {} : { "stripe-version": apiVersion }),
  };
  const url = `${baseUrl.replace(/\/+$/, "")}/v1/events?${query.toString()}`;
  const asked = { url, token: apiKey, headers, maxAnswerBytes: MAX_LIST_BYTES, signal };
  const { body } = await readApi(TITLE, options, asked);
  const data = members(body)?.findLast(({ name }) => name === "data")?.value;
  const list = data && elements(data);
  if (list === undefined) throw unreadable(TITLE, "sent something else than a list of events");
  const entries = list.map(entryOf);
  const more = field(jsonObject(body), "has_more") === true;
  return { entries, next: more ? entries.at(-1)?.id : undefined };
}

function entryOf(slice: Uint8Array): LogEntry {
  const event = jsonObject(slice);
  const id = textField(event, "id");
  const created = field(event, "created");
  if (id === undefined || typeof created !== "number")
    throw unreadable(TITLE, "listed an event without id or created");
  return { id, at: new Date(created * 1000), load: () => Promise.resolve({ headers: {}, body: slice }) };
}
