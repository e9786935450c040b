import { asObject, elements, field, jsonObject, members, numberText, textField } from "../json.js";
import type { OptionNames } from "../known-options.js";
import type { DeliveryLog, LogEntry, LoggedRequest, LogPage, LogRequest } from "./delivery-log.js";
import { oddEntry, timesOf } from "./odd-entries.js";
import type { ApiOptions, ApiToken } from "./provider-api.js";
import { API_OPTIONS, checkOptionNames, invalidOption, readApi, unreadable } from "./provider-api.js";

/** Whose webhook it is. */
export type GithubHook =
  | "app"
  | { readonly repository: string; readonly id: number }
  | { readonly organization: string; readonly id: number };

/** How the deliveries of a GitHub webhook are read. */
export interface GithubLogOptions extends ApiOptions {
  /** The app's JWT for its own webhook; otherwise a token that may read the webhooks of the repository or organisation. */
  readonly token: ApiToken;
  readonly hook: GithubHook;
  /** For GitHub Enterprise Server. @default "https://api.github.com" */
  readonly baseUrl?: string;
}

const OPTIONS: OptionNames<GithubLogOptions> = { ...API_OPTIONS, token: true, hook: true, baseUrl: true };
const HOOK = { repository: true, organization: true, id: true };
const TITLE = "GitHub";
const KEPT_MS = 3 * 24 * 3_600_000;
const PAGE = 100;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
// A payload has up to 25 MB, and the answer says it beside the reply that we gave.
const MAX_DELIVERY_BYTES = 32 * 1024 * 1024;
const HEADERS = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/**
 * The deliveries of a GitHub webhook: GitHub never repeats one by itself, and keeps them for three days.
 *
 * @example
 * const log = githubLog({ egress, token: createAppJwt, hook: "app" });
 */
export function githubLog(options: GithubLogOptions): DeliveryLog {
  checkOptionNames("githubLog", options, OPTIONS);
  const base = `${(options.baseUrl ?? "https://api.github.com").replace(/\/+$/, "")}${pathOf(options.hook)}`;
  const { name = base } = options;
  return { title: TITLE, name, keptMs: KEPT_MS, page: (request) => page(options, base, request) };
}

function pathOf(hook: GithubHook): string {
  if (hook === "app") return "/app/hook/deliveries";
  checkOptionNames("hook of githubLog", hook, HOOK);
  const { id } = hook;
  if (!Number.isSafeInteger(id) || id <= 0)
    throw invalidOption(`hook.id is ${String(id)}; expected the webhook's number.`);
  if ("organization" in hook) return `/orgs/${part(hook.organization)}/hooks/${id}/deliveries`;
  const [owner = "", repository = "", ...rest] = hook.repository.split("/");
  if (rest.length > 0) throw invalidOption('hook.repository must be of the form "owner/name".');
  return `/repos/${part(owner)}/${part(repository)}/hooks/${id}/deliveries`;
}

// Anything else would lead to another path of the API, with our token.
function part(text: string): string {
  if (/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/.test(text)) return text;
  throw invalidOption('hook must name a repository as "owner/name", or an organisation.');
}

async function page(options: GithubLogOptions, base: string, request: LogRequest): Promise<LogPage> {
  const { since, next, signal } = request;
  const cursor = next === undefined ? "" : `&cursor=${encodeURIComponent(next)}`;
  const url = `${base}?per_page=${PAGE}${cursor}`;
  const { token } = options;
  const asked = { url, token, headers: HEADERS, maxAnswerBytes: MAX_LIST_BYTES, signal };
  const { body, headers } = await readApi(TITLE, options, asked);
  const list = elements(body);
  if (list === undefined) throw unreadable(TITLE, "sent something else than a list of deliveries");
  const deliveries = list.map(jsonObject);
  const times = timesOf(TITLE, deliveries.map(timeOf));
  const all = list.map((slice, n) =>
    entryOf(
      { guid: textField(deliveries[n], "guid"), id: numberText(slice, "id"), at: times[n] as Date },
      (id) => load(options, `${base}/${id}`, signal),
    ),
  );
  const entries = all.filter(({ at }) => at >= since);
  // Newest first: the first one that is too old ends it.
  return { entries, next: entries.length < all.length ? undefined : nextCursor(headers["link"]) };
}

interface Listed {
  readonly guid: string | undefined;
  readonly id: string | undefined;
  readonly at: Date;
}

function entryOf({ guid, id, at }: Listed, loadOne: (id: string) => Promise<LoggedRequest>): LogEntry {
  if (guid !== undefined && id !== undefined) return { id: guid, at, load: () => loadOne(id) };
  const unnamed = id === undefined ? `a delivery of ${at.toISOString()}` : `the delivery ${id}`;
  return oddEntry(TITLE, guid ?? unnamed, at);
}

function timeOf(delivery: Parameters<typeof textField>[0]): Date {
  return new Date(textField(delivery, "delivered_at") ?? Number.NaN);
}

async function load(
  options: GithubLogOptions,
  url: string,
  signal: LogRequest["signal"],
): Promise<LoggedRequest> {
  const asked = { url, token: options.token, headers: HEADERS, maxAnswerBytes: MAX_DELIVERY_BYTES, signal };
  const { body } = await readApi(TITLE, options, asked);
  const request = members(body)?.findLast((member) => member.name === "request")?.value;
  const payload = request && members(request)?.findLast((member) => member.name === "payload")?.value;
  if (request === undefined || payload === undefined || jsonObject(payload) === undefined)
    throw unreadable(TITLE, "sent a delivery without its request");
  const headers = headersOf(field(jsonObject(request), "headers"));
  // The log has the payload as JSON, also where the hook sends it as a form: read by that type, it would be no data at all.
  return { headers: { ...headers, "content-type": "application/json" }, body: payload };
}

function headersOf(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(asObject(value) ?? {});
  return Object.fromEntries(
    entries.flatMap(([header, text]) => (typeof text === "string" ? [[header.toLowerCase(), text]] : [])),
  );
}

/** Of `Link` only the cursor: the address in it could lead anywhere. */
function nextCursor(link: string | undefined): string | undefined {
  const url = link?.split(",").find((each) => /;\s*rel="?next"?/.test(each));
  const query = /<[^>?]*\?([^>]*)>/.exec(url ?? "")?.[1];
  return new URLSearchParams(query).get("cursor") ?? undefined;
}
