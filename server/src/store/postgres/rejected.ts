import type { SecretSeal } from "posthorn";
import type { RejectedRecord, RejectedRegistry } from "../rejected-request.js";
import { rejectedOf, storedRejected } from "../stored-rejected.js";
import { msOf } from "./database.js";
import type { RegistryDatabase } from "./database.js";

interface Row {
  readonly id: string;
  readonly source: string;
  readonly method: string;
  readonly headers: string;
  readonly body_bytes: string;
  readonly code: string;
  readonly message: string;
  readonly diagnosis: string;
  readonly sealed: string | null;
  readonly received: string;
  readonly body: string;
}

const COLUMNS = `id, source, method, headers, body_bytes::text, code, message, diagnosis,
  ${msOf("received_at")} as received`;

export class PostgresRejected implements RejectedRegistry {
  readonly #db: RegistryDatabase;
  readonly #table: string;
  readonly #seal: SecretSeal;

  constructor(db: RegistryDatabase, seal: SecretSeal) {
    this.#db = db;
    this.#seal = seal;
    this.#table = db.table("rejected");
  }

  async recordRejected(requests: readonly RejectedRecord[], keepPerSource: number): Promise<void> {
    if (requests.length === 0) return;
    const stored = requests.map((request) => storedRejected(request, this.#seal));
    await this.#db.query(
      `insert into ${this.#table} (id, source, method, headers, body_bytes, code, message, diagnosis,
         request_sealed, received_at, body)
       select id, source, method, headers, body_bytes::int8, code, message, diagnosis, sealed,
         to_timestamp(received::float8 / 1000), decode(body, 'hex')
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
         $9::text[], $10::text[], $11::text[])
         as given (id, source, method, headers, body_bytes, code, message, diagnosis, sealed, received, body)
       on conflict (id) do nothing`,
      [
        stored.map(({ id }) => id),
        stored.map(({ source }) => source),
        stored.map(({ method }) => method),
        stored.map(({ headers }) => headers),
        stored.map(({ bodyBytes }) => String(bodyBytes)),
        stored.map(({ code }) => code),
        stored.map(({ message }) => message),
        stored.map(({ diagnosis }) => diagnosis),
        stored.map(({ sealed }) => sealed),
        requests.map(({ receivedAt }) => String(receivedAt.getTime())),
        requests.map(({ body }) => Buffer.from(body).toString("hex")),
      ],
    );
    await this.#dropOldest([...new Set(stored.map(({ source }) => source))], keepPerSource);
  }

  async listRejected(page: {
    readonly source?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly RejectedRecord[]> {
    const rows = await this.#db.query<Row>(
      `select ${COLUMNS}, null as sealed, '' as body from ${this.#table}
       where ($1::text is null or source = $1::text) and ($2::text is null or id < $2::text)
       order by id desc limit $3::text::int8`,
      [page.source ?? null, page.after ?? null, String(page.limit)],
    );
    return rows.map((row) => requestOf(row, this.#seal));
  }

  async readRejected(id: string): Promise<RejectedRecord | undefined> {
    const [row] = await this.#db.query<Row>(
      `select ${COLUMNS}, request_sealed as sealed, encode(body, 'hex') as body from ${this.#table} where id = $1::text`,
      [id],
    );
    return row && requestOf(row, this.#seal);
  }

  async dropRejected(id: string): Promise<void> {
    await this.#db.query(`delete from ${this.#table} where id = $1::text`, [id]);
  }

  async removeRejected(before: Date, limit: number): Promise<number> {
    // Ids are in the order of receipt.
    const rows = await this.#db.query<{ readonly id: string }>(
      `delete from ${this.#table} where id = any (array(
         select id from (select id, received_at from ${this.#table} order by id limit $2::text::int8) as oldest
         where received_at < to_timestamp($1::text::float8 / 1000)
       )) returning id`,
      [String(before.getTime()), String(limit)],
    );
    return rows.length;
  }

  async #dropOldest(sources: readonly string[], keepPerSource: number): Promise<void> {
    // Finds the first surplus row of each source: counting the rows for each batch would cost more with every row kept.
    await this.#db.query(
      `delete from ${this.#table} as rejected using (
         select source, (
           select id from ${this.#table} as kept where kept.source = given.source order by id desc offset $2::text::int8 limit 1
         ) as last from unnest($1::text[]) as given (source)
       ) as surplus
       where rejected.source = surplus.source and rejected.id <= surplus.last`,
      [sources, String(keepPerSource)],
    );
  }
}

function requestOf({ received, body, body_bytes: bodyBytes, ...row }: Row, seal: SecretSeal): RejectedRecord {
  const bytes = new Uint8Array(Buffer.from(body, "hex"));
  return rejectedOf(
    { ...row, bodyBytes: Number(bodyBytes) },
    { receivedMs: Number(received), body: bytes, seal },
  );
}
