import { reach } from "#faults";
import type { IngestStore } from "../../../outbox/ingest-store.js";
import type { OutboxStore, Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { hostSession } from "../client/client.js";
import { isTransient, sqlState, storeError, transactionAborted } from "../client/failure.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import type { Tables } from "../schema/tables.js";
import { Appender } from "./append.js";
import type { EndpointParts } from "./endpoints.js";
import { addEndpoint, changeEndpoint, listEndpoints, readEndpoints, removeEndpoint } from "./endpoints.js";
import { forgetNames } from "./forget-names.js";
import { Ingester } from "./ingest.js";
import { writeKeyed } from "./keyed-write.js";
import { recordRepeats } from "./record-repeats.js";
import { writeEvents } from "./write.js";

export interface OutboxParts extends EndpointParts {
  readonly prepare: boolean;
  /** Called when something was committed. */
  readonly committed: () => void;
}

/** Publishing, ingest and endpoints. */
export function createOutbox<Tx>(
  parts: OutboxParts,
): Omit<OutboxStore<Tx, "asynchronous">, "capabilities" | "transactions" | "wake"> & IngestStore {
  const appender = new Appender(parts);
  const ingester = new Ingester(parts);
  return {
    write: (events, tx) => writeInto(tx, events, parts),
    append: (events) => appender.append(events),
    ingest: (incoming) => ingester.ingest(incoming),
    recordRepeats: (repeats) => recordRepeats(parts, repeats),
    forgetNames: (limits) => forgetNames(parts, limits),
    addEndpoint: (endpoint) => addEndpoint(parts, endpoint),
    changeEndpoint: (id, change) => changeEndpoint(parts, id, change),
    removeEndpoint: (id) => removeEndpoint(parts, id),
    readEndpoints: (ids) => readEndpoints(parts, ids),
    listEndpoints: (page) => listEndpoints(parts, page),
  };
}

/** Writes events into a transaction of the host. */
async function writeInto(
  tx: unknown,
  events: readonly OutgoingEvent[],
  { prepare, tables }: { readonly prepare: boolean; readonly tables: Tables },
): Promise<readonly Written[]> {
  try {
    const session = await hostSession(tx, prepare);
    reach("publish.before_write");
    if (events.some(({ idGiven }) => idGiven)) {
      const [written = []] = await writeKeyed(session, [events], tables);
      reach("publish.after_write");
      return written;
    }
    if (events.length > 0) await session.query(writeEvents(events, tables));
    reach("publish.after_write");
    return events.map(() => "written");
  } catch (error) {
    if (sqlState(error) === "25P02") throw transactionAborted(undefined);
    // As the driver threw it: the host's own loop repeats its transaction on these codes.
    if (isTransient(error)) throw error;
    throw storeError(error, MIGRATE_CURE);
  }
}
