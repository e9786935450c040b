import type { LaneSummary, LookupStore, OperatorStore, Page, Paged } from "posthorn/operator";
import { checkedCursor } from "./page.js";

type LaneStore = Pick<OperatorStore, "blockedLanes"> & Pick<LookupStore, "lanes">;

export interface LaneQuery {
  readonly endpoint?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The position in a list of lanes: the half, and the store's own cursor in it. */
interface Place {
  readonly half: "blocked" | "flowing";
  readonly after: string | undefined;
}

const PAGE = 1000;
// After so many pages, a call returns what it has; the next call continues there.
const MOST_PAGES = 10;

/** Blocked lanes first, longest blocked at the top, then the others in which something waits. */
export async function listLanes(store: LaneStore, query: LaneQuery): Promise<Paged<LaneSummary>> {
  const items: LaneSummary[] = [];
  let place: Place | undefined = parsePlace(query.after);
  for (let pages = 0; pages < MOST_PAGES && place !== undefined && items.length < query.limit; pages++) {
    const { wanted, next } = await fittingPage(store, place, {
      endpointId: query.endpoint,
      most: query.limit - items.length,
    });
    items.push(...wanted);
    place = placeAfter(place, next);
  }
  return { items, next: place && writePlace(place) };
}

interface Wanted {
  readonly wanted: readonly LaneSummary[];
  readonly next: string | undefined;
}

/**
 * A page of which no more than `most` lanes are wanted. The store's cursors stand behind a whole page: a count of lanes that
 * were shown would leave out others when one before them moves away.
 */
async function fittingPage(
  store: LaneStore,
  place: Place,
  { endpointId, most }: { readonly endpointId: string | undefined; readonly most: number },
): Promise<Wanted> {
  for (let limit = PAGE; ;) {
    const { items, next }: Paged<LaneSummary> = await readPage(store, place, { endpointId, limit });
    const wanted = items.filter((lane) => isWanted(lane, place, endpointId));
    const last = wanted[most - 1];
    if (wanted.length <= most || last === undefined) return { wanted, next };
    limit = items.indexOf(last) + 1;
  }
}

function readPage(
  store: LaneStore,
  { half, after }: Place,
  { endpointId, limit }: { readonly endpointId: string | undefined; readonly limit: number },
): Promise<Paged<LaneSummary>> {
  const page: Page = { limit, after };
  return half === "blocked" ? store.blockedLanes(page) : store.lanes({ endpointId }, page);
}

/** Blocked lanes are in the second half too, where they have been listed before. */
function isWanted(lane: LaneSummary, { half }: Place, endpointId: string | undefined): boolean {
  if (endpointId !== undefined && lane.endpointId !== endpointId) return false;
  return half === "blocked" || lane.state === "flowing";
}

function placeAfter({ half }: Place, next: string | undefined): Place | undefined {
  if (next !== undefined) return { half, after: next };
  return half === "blocked" ? { half: "flowing", after: undefined } : undefined;
}

function writePlace({ half, after = "" }: Place): string {
  return `${half[0]}.${after}`;
}

function parsePlace(text: string | undefined): Place {
  const place = checkedCursor(text, /^(?:f\.|[bf]\.\d[\d_]{0,200})$/);
  if (place === undefined) return { half: "blocked", after: undefined };
  const after = place.slice(2);
  return { half: place.startsWith("f") ? "flowing" : "blocked", after: after === "" ? undefined : after };
}
