/** What a text in the search field asks for. */
export type Search =
  /** A page that the text names. */
  | { readonly kind: "go"; readonly path: string; readonly query: Readonly<Record<string, string>> }
  /** It cannot be looked for; `message` says what can. */
  | { readonly kind: "unknown"; readonly message: string };

/** The qualifiers of each list. Each is one that the API finds by an index. */
const EVENT_QUALIFIERS = ["source", "type", "key", "tenant"] as const;
const QUALIFIER = /(?:^|\s)(id|source|type|key|tenant|endpoint|lane):(?:"([^"]*)"|(\S+))/g;

const ID_PAGES: readonly (readonly [RegExp, string])[] = [
  [/^dlv_\w+$/, "deliveries"],
  [/^ep_[\w-]+$/, "endpoints"],
  [/^rej_\w+$/, "rejected"],
];

/** Says where a text leads: an id, a header, a curl command, or qualifiers such as `type:invoice.paid key:cus_9`. */
export function parseSearch(given: string): Search {
  const text = given.trim();
  if (text === "") return unknown();
  const qualified = qualifiers(text);
  if (qualified.size > 0) return byQualifiers(qualified);
  const found = idIn(text);
  return found === undefined ? unknown() : byId(found);
}

function qualifiers(text: string): ReadonlyMap<string, string> {
  const found = [...text.matchAll(QUALIFIER)].map(
    ([, name = "", quoted, plain]) => [name, quoted ?? plain ?? ""] as const,
  );
  return new Map(found);
}

function byQualifiers(found: ReadonlyMap<string, string>): Search {
  const id = found.get("id");
  if (id !== undefined) return byId(id, found.get("tenant"));
  const lane = found.get("lane");
  if (lane !== undefined) return go(`/lanes/${encodeURIComponent(lane)}`);
  const endpoint = found.get("endpoint");
  const names = EVENT_QUALIFIERS.filter((name) => found.has(name));
  if (endpoint !== undefined && names.length === 0) return go(`/endpoints/${encodeURIComponent(endpoint)}`);
  if (endpoint !== undefined) {
    return {
      kind: "unknown",
      message: "Events cannot be looked for by endpoint. Open the endpoint, or leave it out.",
    };
  }
  return go("/events", Object.fromEntries(names.map((name) => [name, found.get(name) ?? ""])));
}

/** The one id in a text: alone, in a header `webhook-id: …`, in the path of a URL, or in a pasted curl command. */
function idIn(text: string): string | undefined {
  const header = /\bwebhook-id['"]?\s*[:=]\s*['"]?([^\s'",]+)/i.exec(text)?.[1];
  if (header !== undefined) return header;
  const path = /\/(?:events|deliveries|endpoints|rejected|lanes)\/([^/\s?#'"]+)/.exec(text)?.[1];
  if (path !== undefined) return decoded(path);
  const prefixed = /\b(?:evt|dlv|ep|rej)_[\w-]+/.exec(text)?.[0];
  if (prefixed !== undefined) return prefixed;
  return /^[\x21-\x7e]+$/.test(text) ? text : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function byId(id: string, tenant?: string): Search {
  for (const [pattern, page] of ID_PAGES) {
    if (pattern.test(id)) return go(`/${page}/${encodeURIComponent(id)}`);
  }
  // Events carry the ids of their providers, which may look like anything.
  return go(`/events/${encodeURIComponent(id)}`, tenant === undefined ? {} : { tenant });
}

function go(path: string, query: Readonly<Record<string, string>> = {}): Search {
  return { kind: "go", path, query };
}

function unknown(): Search {
  return {
    kind: "unknown",
    message:
      "Paste an id, or name what you look for: type:invoice.paid, key:cus_9, source:stripe, endpoint:ep_shop, lane:12.",
  };
}
