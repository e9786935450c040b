import type { Found } from "posthorn/client";
import { api, failureOf } from "../api/api.ts";
import { deliveryHref, endpointHref, eventHref, laneHref, rejectedHref, sourceHref } from "../place/links.ts";
import { hrefOf } from "../place/location.ts";
import { parseSearch, WHAT_CAN_BE_ASKED } from "../place/search.ts";
import { oneLine } from "../words/format.ts";

/** What came of a search: one page, or several to choose from, or none. */
export type Looked =
  | { readonly kind: "go"; readonly href: string }
  | { readonly kind: "choose"; readonly message: string; readonly items: readonly Found[] };

/** The page of something that was found. */
export function hrefOfFound({ kind, id, tenant }: Found): string {
  switch (kind) {
    case "event":
      return eventHref(id, tenant ?? "default");
    case "delivery":
      return deliveryHref(id);
    case "lane":
      return laneHref(id);
    case "endpoint":
      return endpointHref(id);
    case "source":
      return sourceHref(id);
    case "rejected":
      return rejectedHref(id);
  }
}

/** Looks for what a text names. */
export async function look(given: string): Promise<Looked> {
  const asked = parseSearch(given);
  if (asked.kind === "go") return { kind: "go", href: hrefOf(asked.path, asked.query) };
  if (asked.kind === "unknown") return choose(asked.message);
  try {
    const { items } = await api.search(asked.text);
    const [only] = items;
    if (only !== undefined && items.length === 1) return { kind: "go", href: hrefOfFound(only) };
    if (items.length > 1) return choose("Several have it:", items);
    return choose(`Nothing here has the id or name ${oneLine(asked.text, 60)}. ${WHAT_CAN_BE_ASKED}`);
  } catch (error) {
    const { title, detail } = failureOf(error);
    return choose(`${title}. ${detail}`);
  }
}

function choose(message: string, items: readonly Found[] = []): Looked {
  return { kind: "choose", message, items };
}
