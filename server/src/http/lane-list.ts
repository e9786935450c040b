import type { LaneSummary, LookupStore, OperatorStore, Page, Paged } from "posthorn/operator";

type LaneStore = Pick<OperatorStore, "blockedLanes"> & Pick<LookupStore, "lanes">;

export interface LaneQuery {
  readonly endpoint?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The position in a list of lanes: the half, the last page of the store, and how much of the next page was returned. */
interface Place {
  readonly half: "blocked" | "flowing";
  readonly after: string | undefined;
  readonly skip: number;
}

const PAGE = 1000;
// After so many pages, a call returns what it has; the next call continues there.
const MOST_PAGES = 10;

/** Blocked lanes first, longest blocked at the top, then the others in which something waits. */
export async function listLanes(store: LaneStore, query: LaneQuery): Promise<Paged<LaneSummary>> {
  const items: LaneSummary[] = [];
  let place: Place | undefined = parsePlace(query.after);
  for (let pages = 0; pages < MOST_PAGES && place !== undefined; pages++) {
    const page: Paged<LaneSummary> = await readPage(store, place, query.endpoint);
    const wanted = page.items.flatMap((lane, index) =>
      isWanted(lane, place as Place, query.endpoint) && index >= (place as Place).skip
        ? [{ lane, index }]
        : [],
    );
    const taken = wanted.slice(0, query.limit - items.length);
    items.push(...taken.map(({ lane }) => lane));
    const last = taken.at(-1);
    if (last !== undefined && items.length === query.limit && last.index + 1 < page.items.length) {
      return { items, next: writePlace({ ...place, skip: last.index + 1 }) };
    }
    place = placeAfter(place, page.next);
    if (items.length === query.limit) break;
  }
  return { items, next: place && writePlace(place) };
}

function readPage(
  store: LaneStore,
  { half, after }: Place,
  endpointId: string | undefined,
): Promise<Paged<LaneSummary>> {
  const page: Page = { limit: PAGE, after };
  return half === "blocked" ? store.blockedLanes(page) : store.lanes({ endpointId }, page);
}

/** Blocked lanes are in the second half too, where they have been listed before. */
function isWanted(lane: LaneSummary, { half }: Place, endpointId: string | undefined): boolean {
  if (endpointId !== undefined && lane.endpointId !== endpointId) return false;
  return half === "blocked" || lane.state === "flowing";
}

function placeAfter({ half }: Place, next: string | undefined): Place | undefined {
  if (next !== undefined) return { half, after: next, skip: 0 };
  return half === "blocked" ? { half: "flowing", after: undefined, skip: 0 } : undefined;
}

function writePlace({ half, after = "", skip }: Place): string {
  return `${half[0]}${skip}.${after}`;
}

/** An invalid cursor starts at the beginning, as the store's own do. */
function parsePlace(text = ""): Place {
  const [, half, skip, after] = /^([bf])(\d{1,4})\.(.*)$/s.exec(text) ?? [];
  return {
    half: half === "f" ? "flowing" : "blocked",
    after: after === undefined || after === "" ? undefined : after,
    skip: Number(skip ?? 0),
  };
}
