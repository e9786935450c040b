import type { HandlerVersion, RegisteredHandler } from "../../../lanes/handler-consumer.js";
import type { Consumer } from "../../../outbox/fan-out.js";
import { textArray } from "../client/column-arrays.js";
import type { Row, Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { CONSUMER, storedEndpointOf } from "./endpoint-row.js";

/** A consumer, and the number by which rows refer to it. */
export interface StoredConsumer {
  readonly number: bigint;
  readonly consumer: Consumer;
}

/** What of a handler no query looks at. */
interface HandlerDefinition {
  readonly sources: readonly string[];
  readonly versions: readonly HandlerVersion[];
}

/** As the column `definition` has it. */
export function handlerDefinition({ sources, versions }: RegisteredHandler): string {
  const definition: HandlerDefinition = { sources, versions };
  return JSON.stringify(definition);
}

function handlerOf(row: Row): RegisteredHandler {
  const { id, definition, order, dead, state, because, pausedUntil, pausedBy, version, mark } =
    CONSUMER.read(row);
  const { sources, versions } = JSON.parse(definition) as HandlerDefinition;
  return {
    kind: "handler",
    id,
    sources,
    versions,
    order: order === "none" ? "none" : "key",
    dead,
    state,
    because,
    pausedUntil,
    pausedBy,
    version,
    mark,
  };
}

/** Every consumer, in the order of their numbers. */
export async function readAllStored(
  session: Session,
  { consumer }: Tables,
): Promise<readonly StoredConsumer[]> {
  const { rows } = await session.query({
    text: `select kind, ${CONSUMER.list} from ${consumer} where removed_at is null order by consumer.id`,
    params: [],
  });
  return rows.map(([kind, ...row]) => {
    const { number, endpoint } = storedEndpointOf(row);
    return { number, consumer: kind === "handler" ? handlerOf(row) : endpoint };
  });
}

/** The handlers of these ids, in the order of their ids; all of them where no ids are given. */
export async function readHandlers(
  session: Session,
  ids: readonly string[] | undefined,
  { consumer }: Tables,
): Promise<readonly RegisteredHandler[]> {
  const { rows } = await session.query({
    text: `
      select ${CONSUMER.list} from ${consumer}
      where kind = 'handler' and tenant = '' and removed_at is null and ($1::text[] is null or public_id = any ($1::text[]))
      order by public_id`,
    params: [ids === undefined ? null : textArray(ids)],
  });
  return rows.map(handlerOf);
}
