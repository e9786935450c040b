import { reach } from "#faults";
import { filledBy } from "../../../hold-mark.js";
import type { IngestStore } from "../../../outbox/ingest-store.js";
import type { OutboxStore } from "../../../outbox/outbox-store.js";
import type { Wake } from "../../../work/wake.js";
import type { SqliteDatabase } from "../client/client.js";
import { storeError } from "../client/failure.js";
import type { HostHandles } from "../client/host-handle.js";
import { fillPlace } from "../lanes/filled.js";
import { isDrained } from "../lanes/sequence.js";
import {
  addEndpoint,
  changeEndpoint,
  listEndpoints,
  readEndpoints,
  removeEndpoint,
  tenantOf,
} from "./endpoints.js";
import { forgetNames } from "./forget-names.js";
import { ingestEvent } from "./ingest.js";
import { recordRepeats } from "./record-repeats.js";
import { cancelSome } from "./remove-handler.js";
import type { OutboxSession } from "./session.js";
import type { OutboxTurn } from "./turn.js";
import { writeEvents } from "./write.js";

export interface OutboxParts {
  readonly session: OutboxSession;
  readonly handles: HostHandles;
  readonly wake: Wake;
}

/** Events and endpoints, without what every port of the store says of itself. */
export function createOutbox<Db extends SqliteDatabase>(
  parts: OutboxParts,
): Omit<OutboxStore<Db, "synchronous">, "capabilities" | "transactions" | "wake"> & IngestStore {
  const { session, handles, wake } = parts;
  return {
    write(events, tx) {
      try {
        const client = handles.inTransaction(tx);
        reach("publish.before_write");
        const written = writeEvents(session.hostTurn(client), events);
        reach("publish.after_write");
        return written;
      } catch (error) {
        throw storeError(error);
      }
    },
    async append(events) {
      const written = await session.write((turn) => {
        reach("append.before_write");
        const verdicts = writeEvents(turn, events);
        reach("append.after_write");
        return verdicts;
      });
      wake.ring("committed");
      return written;
    },
    async ingest(incoming) {
      const ingested = await session.writeTogether((turn) => {
        reach("ingest.before_write");
        return ingestEvent(turn, incoming);
      });
      reach("ingest.after_write");
      if (ingested.kind === "stored" || filledBy(incoming.event) !== undefined) wake.ring("committed");
      return ingested;
    },
    async fill(place) {
      await session.writeTogether((turn) => {
        reach("fill.before_write");
        fillPlace(turn, place);
      });
      reach("fill.after_write");
      wake.ring("committed");
    },
    recordRepeats: (repeats) => recordRepeats(session, repeats),
    forgetNames: (limits) => forgetNames(session, limits),
    ...endpointVerbs(session, wake),
  };
}

type EndpointVerbs = Pick<
  OutboxStore<never>,
  "addEndpoint" | "changeEndpoint" | "removeEndpoint" | "readEndpoints" | "listEndpoints"
>;

/** The verbs of endpoints. */
function endpointVerbs(session: OutboxSession, wake: Wake): EndpointVerbs {
  return {
    addEndpoint: (endpoint) =>
      afterSequencing(
        session,
        () => endpoint.tenant,
        (turn) => addEndpoint(turn, endpoint),
      ),
    async changeEndpoint(id, change) {
      const changed = await afterSequencing(
        session,
        (turn) => tenantOf(turn, id),
        (turn) => changeEndpoint(turn, id, change),
      );
      // What waited for an endpoint that was stopped may be due.
      wake.ring("committed");
      return changed;
    },
    async removeEndpoint(id) {
      const removed = await afterSequencing(
        session,
        (turn) => tenantOf(turn, id),
        (turn) => removeEndpoint(turn, id),
      );
      if (removed) await cancelSome(session);
      // What is left is cancelled by whoever sequences.
      wake.ring("committed");
      return removed;
    },
    readEndpoints: (ids) => session.look((turn) => readEndpoints(turn, ids)),
    listEndpoints: (page) => session.look((turn) => listEndpoints(turn, page)),
  };
}

// What is due already was published before the change, and goes by the old patterns; of the tenant alone, because no
// other's events go to its endpoints.
async function afterSequencing<T>(
  session: OutboxSession,
  tenantOfChange: (turn: OutboxTurn) => string | undefined,
  change: (turn: OutboxTurn) => T,
): Promise<T> {
  for (;;) {
    const done = await session.write((turn) => {
      const tenant = tenantOfChange(turn);
      return tenant === undefined || isDrained(turn, tenant) ? { value: change(turn) } : undefined;
    });
    if (done !== undefined) return done.value;
  }
}
