/** What a text in the search field asks for. */
export type Search =
  /** A page that the text names by qualifiers. */
  | { readonly kind: "go"; readonly path: string; readonly query: Readonly<Record<string, string>> }
  /** Ids, a header, a curl command: the server knows which of its words it has. */
  | { readonly kind: "ask"; readonly text: string }
  /** It cannot be looked for; `message` says what can. */
  | { readonly kind: "unknown"; readonly message: string };

/** Of the lists of events, of dead letters and of the inbox. Each is one that the API finds by an index. */
const EVENT_QUALIFIERS = ["source", "type", "key", "tenant", "since", "until"] as const;
const DEAD_QUALIFIERS = ["endpoint", "key", "since", "until"] as const;
const INBOX_QUALIFIERS = ["source", "type", "tenant", "since", "until", "consumer", "outcome"] as const;
const QUALIFIER =
  /(?:^|\s)(id|source|type|key|tenant|since|until|endpoint|state|reason|lane|consumer|outcome):(?:"([^"]*)"|(\S+))/g;
// The server tries every word, up to twenty: a pasted page of a log would be cut, and longer URLs are refused on the way.
const MOST_ASKED = 2000;

/** Says where a text leads: qualifiers such as `type:invoice.paid key:cus_9` to a list, all else to the server's search. */
export function parseSearch(given: string): Search {
  const text = given.trim();
  if (text === "") return unknown();
  const qualified = qualifiers(text);
  if (qualified.size > 0) return byQualifiers(qualified);
  return { kind: "ask", text: text.slice(0, MOST_ASKED) };
}

function qualifiers(text: string): ReadonlyMap<string, string> {
  const found = [...text.matchAll(QUALIFIER)].map(
    ([, name = "", quoted, plain]) => [name, quoted ?? plain ?? ""] as const,
  );
  return new Map(found);
}

function byQualifiers(found: ReadonlyMap<string, string>): Search {
  const id = found.get("id");
  if (id !== undefined) return { kind: "ask", text: id };
  const lane = found.get("lane");
  if (lane !== undefined) return go(`/lanes/${encodeURIComponent(lane)}`);
  const [endpoint, state, reason] = [found.get("endpoint"), found.get("state"), found.get("reason")];
  if (state === "dead" || reason !== undefined)
    return go("/dead", {
      ...chosen(found, DEAD_QUALIFIERS),
      ...(reason === undefined ? {} : { because: reason }),
    });
  if (state !== undefined) return go("/lanes", endpoint === undefined ? {} : { endpoint });
  if (endpoint !== undefined) return go(`/endpoints/${encodeURIComponent(endpoint)}`);
  if (found.has("consumer") || found.has("outcome")) return go("/inbox", chosen(found, INBOX_QUALIFIERS));
  return go("/events", chosen(found, EVENT_QUALIFIERS));
}

/** Those that a list is filtered by, in its order. */
function chosen(
  found: ReadonlyMap<string, string>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.filter((name) => found.has(name)).map((name) => [name, found.get(name) ?? ""]),
  );
}

function go(path: string, query: Readonly<Record<string, string>> = {}): Search {
  return { kind: "go", path, query };
}

function unknown(): Search {
  return { kind: "unknown", message: WHAT_CAN_BE_ASKED };
}

export const WHAT_CAN_BE_ASKED =
  "Paste an id, a header or a curl command, or name what you look for: type:invoice.paid, key:cus_9, source:stripe, endpoint:ep_shop, state:dead, since:24h, lane:12, consumer:billing.";
