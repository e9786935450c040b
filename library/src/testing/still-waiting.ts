import type { HeldRecord } from "../operator/held-store.js";
import type { DeliverySummary } from "../operator/lookup-store.js";
import type { Store } from "../operator/store.js";

const NAMED_AT_MOST = 10;
const NEWEST = 200;

/** What lets time pass for what waits. */
export const CURE: string =
  "Retries, holds and pauses are run to their end by { advance: true } with a fake clock; operator.release() ends a hold, " +
  "operator.resume() a pause.";

/** What waits in a store, in words: lanes, what is held, and who is paused until when. */
export async function stillWaiting(store: Store<never>): Promise<readonly string[]> {
  const { items } = await store.lanes({}, { limit: NAMED_AT_MOST });
  const { staged, waiting, held } = await store.census();
  const loose = (await unfinishedIn(store)).filter(({ key }) => key === undefined);
  const lanes = items.map(({ endpointId, key, state, depth, failures, dueInMs }) => {
    return `${depth} of ${endpointId}, key ${JSON.stringify(key)} (${state}, ${failures} failures${dueWords(dueInMs)})`;
  });
  return [
    ...lanes,
    ...(held > 0 ? await heldIn(store) : []),
    ...(staged > held ? [`${staged - held} that have no places yet`] : []),
    ...loose.slice(0, NAMED_AT_MOST).map(looseWords),
    ...(waiting > 0 && items.length + loose.length === 0 ? [`${waiting} without a key`] : []),
    ...(await pausedIn(store)),
  ];
}

function dueWords(dueInMs: number | undefined): string {
  return dueInMs === undefined ? "" : `, due in ${Math.round(dueInMs)} ms`;
}

function looseWords({ endpointId, type, state, attempts, dueInMs, lastError }: DeliverySummary): string {
  const error = lastError === undefined ? "" : `: ${lastError}`;
  return `1 of ${endpointId}, ${type} without a key (${state}, ${attempts} attempts${dueWords(dueInMs)}${error})`;
}

const UNFINISHED: ReadonlySet<DeliverySummary["state"]> = new Set(["waiting", "under_way", "retrying"]);

/** Deliveries of the newest events of a store that have not ended. */
async function unfinishedIn(store: Store<never>): Promise<readonly DeliverySummary[]> {
  const { items } = await store.events({}, { limit: NEWEST });
  const tenants = [...new Set(items.map(({ tenant }) => tenant))];
  const found = await Promise.all(
    tenants.map((tenant) => {
      const ids = items.filter((each) => each.tenant === tenant).map(({ id }) => id);
      return store.deliveriesOf(tenant, ids);
    }),
  );
  return found.flat().filter(({ state }) => UNFINISHED.has(state));
}

/** Whether a handler, or a request of a dispatcher, has not returned. */
export async function isUnderWay(store: Store<never>): Promise<boolean> {
  return (await unfinishedIn(store)).some(({ state }) => state === "under_way");
}

async function heldIn(store: Store<never>): Promise<readonly string[]> {
  const { items } = await store.heldEvents({}, { limit: NAMED_AT_MOST });
  return items.map(({ source, key, hold }) => {
    const until = hold === undefined ? "" : `, until ${hold.until.toISOString()}`;
    return `1 held of ${source}, key ${JSON.stringify(key)}: waits for ${missingIn(hold)}${until}`;
  });
}

function missingIn(hold: HeldRecord["hold"]): string {
  if (hold?.missing === undefined) return "what is held before it";
  const { from, to } = hold.missing;
  return from === to ? String(from) : `${from} to ${to}`;
}

async function pausedIn(store: Store<never>): Promise<readonly string[]> {
  const handlers = await store.readHandlers();
  return handlers.flatMap(({ id, state, pausedUntil, because = "" }) =>
    state === "paused" && pausedUntil !== undefined
      ? [`${id} is paused until ${pausedUntil.toISOString()}: ${because}`]
      : [],
  );
}

/** What waits for handlers that nobody handed in; undefined where nothing does. */
export async function unhandedIn(
  store: Store<never>,
  handed: ReadonlySet<string>,
): Promise<string | undefined> {
  const { setAside } = await store.census();
  if (setAside > 0) return unhanded(setAside, "a worker that has not registered for their source");
  const others = (await store.consumers()).filter(({ id }) => !handed.has(id));
  const waits = await Promise.all(others.map(({ id }) => store.untilDue({ kind: "handler", ids: [id] })));
  const waiting = others.filter((_, n) => waits[n] !== undefined);
  if (waiting.length === 0) return undefined;
  const events = waiting.reduce((sum, each) => sum + each.waiting - each.blocked, 0);
  return unhanded(events, `a worker (${waiting.map(({ id }) => id).join(", ")})`);
}

function unhanded(events: number, who: string): string {
  const what = events === 1 ? "1 event waits" : `${events} events wait`;
  return `${what} for ${who}: hand it in, settled(receiver, worker).`;
}
