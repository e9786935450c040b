import type { Endpoint } from "../../../outbox/endpoint.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { FanOut } from "../../../outbox/fan-out.js";
import type { SqliteClient } from "../client/client.js";
import type { EndpointColumns } from "./endpoint-row.js";
import { endpointOf } from "./endpoint-row.js";

/** An endpoint, and the number by which lanes and deliveries name it. */
export interface NumberedEndpoint {
  readonly number: bigint;
  readonly endpoint: Endpoint;
}

/** All endpoints as they were at one moment. */
export interface EndpointSet {
  readonly mark: string;
  readonly fanOut: FanOut;
  readonly byNumber: ReadonlyMap<bigint, Endpoint>;
  readonly numbers: ReadonlyMap<string, bigint>;
}

/** The row in which processes tell each other what has changed. */
export interface Marks {
  /** Of the endpoints. */
  readonly mark: string;
  /** The latest time by which anything was written. */
  readonly seenAt: number;
}

export function readMarks(client: SqliteClient): Marks {
  return client.get("select mark, seen_at as seenAt from posthorn_outbox_config where one = 1") as Marks;
}

/** Remembers the endpoints for as long as their mark is the same: another process may have changed them. */
export class EndpointBook {
  readonly secrets: EndpointSecrets;
  #known: EndpointSet | undefined;

  constructor(secrets: EndpointSecrets) {
    this.secrets = secrets;
  }

  read(client: SqliteClient, { mark }: Marks): EndpointSet {
    if (this.#known?.mark === mark) return this.#known;
    this.#known = readAll(client, mark, this.secrets);
    return this.#known;
  }
}

function readAll(client: SqliteClient, mark: string, secrets: EndpointSecrets): EndpointSet {
  const rows = client.allWide(
    "select * from posthorn_consumer where removed_at is null order by id",
  ) as EndpointColumns[];
  const numbered = rows.map((row) => ({ number: row.id, endpoint: secrets.opened(endpointOf(row)) }));
  return {
    mark,
    fanOut: new FanOut(numbered.map(({ endpoint }) => endpoint)),
    byNumber: new Map(numbered.map(({ number, endpoint }) => [number, endpoint])),
    numbers: new Map(numbered.map(({ number, endpoint }) => [endpoint.id, number])),
  };
}

/** Lets every process read the endpoints again at its next turn. */
export function markChanged(client: SqliteClient): void {
  client.run("update posthorn_outbox_config set mark = lower(hex(randomblob(16))) where one = 1");
}
