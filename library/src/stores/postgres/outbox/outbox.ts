import { reach } from "#faults";
import type { IngestStore } from "../../../outbox/ingest-store.js";
import type { OutboxStore, Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import type { Session } from "../client/database.js";
import { isTransient, sqlState, storeError, transactionAborted } from "../client/failure.js";
import { fillPlaces } from "../lanes/filled.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import { Appender } from "./append.js";
import type { EndpointParts } from "./endpoints.js";
import { addEndpoint, changeEndpoint, listEndpoints, readEndpoints, removeEndpoint } from "./endpoints.js";
import { forgetNames } from "./forget-names.js";
import { Ingester } from "./ingest.js";
import { writeKeyed } from "./keyed-write.js";
import { recordRepeats } from "./record-repeats.js";
import { writeEvents } from "./write.js";

export interface OutboxParts extends EndpointParts {
  /** The session of a transaction of the host; throws unless it is open. */
  readonly sessionOf: (tx: unknown) => Promise<Session>;
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
    async fill(place) {
      reach("fill.before_write");
      await parts.transactions.write(fillPlaces([place], parts.tables));
      reach("fill.after_write");
      parts.committed();
    },
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
  { sessionOf, tables }: Pick<OutboxParts, "sessionOf" | "tables">,
): Promise<readonly Written[]> {
  try {
    const session = await sessionOf(tx);
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
