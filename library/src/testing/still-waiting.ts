import type { HeldRecord } from "../operator/held-store.js";
import type { Store } from "../operator/store.js";

const NAMED_AT_MOST = 10;

/** What lets time pass for what waits. */
export const CURE: string =
  "Retries, holds and pauses are run to their end by { advance: true } with a fake clock; operator.release() ends a hold, " +
  "operator.resume() a pause.";

/** What waits in a store, in words: lanes, what is held, and who is paused until when. */
export async function stillWaiting(store: Store<never>): Promise<readonly string[]> {
  const { items } = await store.lanes({}, { limit: NAMED_AT_MOST });
  const { staged, waiting, held } = await store.census();
  const lanes = items.map(({ endpointId, key, state, depth, failures, dueInMs }) => {
    const due = dueInMs === undefined ? "" : `, due in ${dueInMs} ms`;
    return `${depth} of ${endpointId}, key ${JSON.stringify(key)} (${state}, ${failures} failures${due})`;
  });
  return [
    ...lanes,
    ...(held > 0 ? await heldIn(store) : []),
    ...(staged > held ? [`${staged - held} that have no places yet`] : []),
    ...(waiting > 0 && items.length === 0 ? [`${waiting} without a key`] : []),
    ...(await pausedIn(store)),
  ];
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
