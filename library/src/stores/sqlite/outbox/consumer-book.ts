import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { FanOut } from "../../../outbox/fan-out.js";
import type { Consumer } from "../../../outbox/fan-out.js";
import type { SqliteClient } from "../client/client.js";
import type { EndpointColumns } from "./endpoint-row.js";
import { endpointOf, handlerOf } from "./endpoint-row.js";

/** All consumers as they were at one moment. */
export interface ConsumerSet {
  readonly mark: string;
  readonly fanOut: FanOut;
  readonly byNumber: ReadonlyMap<bigint, Consumer>;
  readonly numbers: ReadonlyMap<string, bigint>;
}

/** The row in which processes tell each other what has changed. */
export interface Marks {
  /** Of the consumers. */
  readonly mark: string;
  /** The latest time by which anything was written. */
  readonly seenAt: number;
}

export function readMarks(client: SqliteClient): Marks {
  return client.get("select mark, seen_at as seenAt from posthorn_outbox_config where one = 1") as Marks;
}

/** Remembers the consumers for as long as their mark is the same: another process may have changed them. */
export class ConsumerBook {
  readonly secrets: EndpointSecrets;
  #known: ConsumerSet | undefined;

  constructor(secrets: EndpointSecrets) {
    this.secrets = secrets;
  }

  read(client: SqliteClient, { mark }: Marks): ConsumerSet {
    if (this.#known?.mark === mark) return this.#known;
    this.#known = readAll(client, mark, this.secrets);
    return this.#known;
  }
}

function readAll(client: SqliteClient, mark: string, secrets: EndpointSecrets): ConsumerSet {
  const rows = client.allWide(
    "select * from posthorn_consumer where removed_at is null order by id",
  ) as EndpointColumns[];
  const numbered = rows.map((row) => ({
    number: row.id,
    consumer: row.kind === "handler" ? handlerOf(row) : secrets.opened(endpointOf(row)),
  }));
  return {
    mark,
    fanOut: new FanOut(numbered.map(({ consumer }) => consumer)),
    byNumber: new Map(numbered.map(({ number, consumer }) => [number, consumer])),
    numbers: new Map(numbered.map(({ number, consumer }) => [consumer.id, number])),
  };
}

/** Lets every process read the consumers again at its next turn. */
export function markChanged(client: SqliteClient): void {
  client.run("update posthorn_outbox_config set mark = lower(hex(randomblob(16))) where one = 1");
}
