import type { NodeRecord, SeenNode, SeriesKind, SeriesRegistry, SeriesRow, SeriesSpan } from "../series.js";
import { countsOf, rolesOf } from "../stored-series.js";
import { instantOf, msOf } from "./database.js";
import type { RegistryDatabase } from "./database.js";

interface Row {
  readonly at: string;
  readonly name: string;
  readonly counts: string;
  readonly duration: string;
  readonly lag: string;
}

interface NodeRow {
  readonly name: string;
  readonly roles: string;
  readonly version: string;
  readonly started: string;
  readonly seen: string;
  readonly seen_ms: string;
}

export class PostgresSeries implements SeriesRegistry {
  readonly #db: RegistryDatabase;
  readonly #series: string;
  readonly #node: string;

  constructor(db: RegistryDatabase) {
    this.#db = db;
    this.#series = db.table("series");
    this.#node = db.table("node");
  }

  async recordSeries(node: string, rows: readonly SeriesRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#db.query(
      `insert into ${this.#series} (step, kind, at, name, node, counts, duration, lag)
       select step::int4, kind, to_timestamp(at::float8 / 1000), name, $1::text, counts, duration, lag
       from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         as given (step, kind, at, name, counts, duration, lag)
       on conflict (step, kind, at, name, node) do update
         set counts = excluded.counts, duration = excluded.duration, lag = excluded.lag`,
      [
        node,
        rows.map(({ step }) => String(step)),
        rows.map(({ kind }) => kind),
        rows.map(({ at }) => String(at.getTime())),
        rows.map(({ name }) => name.replaceAll("\0", "")),
        rows.map(({ counts }) => JSON.stringify(counts)),
        rows.map(({ duration }) => duration),
        rows.map(({ lag }) => lag),
      ],
    );
  }

  async readSeries({ step, kind, since, until, name }: SeriesSpan): Promise<readonly SeriesRow[]> {
    const rows = await this.#db.query<Row>(
      `select ${msOf("at")} as at, name, counts, duration, lag from ${this.#series}
       where step = $1::text::int4 and kind = $2::text and at >= ${instantOf("$3")} and at < ${instantOf("$4")}
         and ($5::text is null or name = $5::text)
       order by at`,
      [String(step), kind, String(since.getTime()), String(until.getTime()), name ?? null],
    );
    return rows.map((row) => ({
      step,
      kind,
      at: new Date(Number(row.at)),
      name: row.name,
      counts: countsOf(row.counts),
      duration: row.duration,
      lag: row.lag,
    }));
  }

  async lastSeen(kind: SeriesKind, since: Date): Promise<ReadonlyMap<string, Date>> {
    const rows = await this.#db.query<{ readonly name: string; readonly at: string }>(
      `select name, ${msOf("max(at)")} as at from ${this.#series}
       where step in (60, 3600) and kind = $1::text and at >= ${instantOf("$2")} group by name`,
      [kind, String(since.getTime())],
    );
    return new Map(rows.map(({ name, at }) => [name, new Date(Number(at))]));
  }

  async forgetSeries(step: SeriesRow["step"], before: Date, limit: number): Promise<number> {
    const rows = await this.#db.query<{ readonly one: string }>(
      `delete from ${this.#series} where ctid = any (array(
         select ctid from ${this.#series}
         where step = $1::text::int4 and kind in ('total', 'source', 'endpoint') and at < ${instantOf("$2")}
         limit $3::text::int8 for update skip locked
       )) returning '1' as one`,
      [String(step), String(before.getTime()), String(limit)],
    );
    return rows.length;
  }

  async recordNode({ name, roles, version, startedAt }: NodeRecord): Promise<void> {
    await this.#db.query(
      `with gone as (
         delete from ${this.#node} where seen_at < clock_timestamp() - interval '1 day' and name <> $1::text
       )
       insert into ${this.#node} (name, roles, version, started_at, seen_at)
       values ($1::text, $2::text, $3::text, ${instantOf("$4")}, clock_timestamp())
       on conflict (name) do update set roles = excluded.roles, seen_at = excluded.seen_at`,
      [name, JSON.stringify(roles), version, String(startedAt.getTime())],
    );
  }

  async forgetNode(name: string): Promise<void> {
    await this.#db.query(`delete from ${this.#node} where name = $1::text`, [name]);
  }

  async listNodes(withinMs: number): Promise<readonly SeenNode[]> {
    const rows = await this.#db.query<NodeRow>(
      `select name, roles, version, ${msOf("started_at")} as started, ${msOf("seen_at")} as seen,
         (extract(epoch from clock_timestamp() - seen_at) * 1000)::int8::text as seen_ms
       from ${this.#node}
       where seen_at > clock_timestamp() - make_interval(secs => $1::text::float8 / 1000) order by name`,
      [String(withinMs)],
    );
    return rows.map((row) => ({
      name: row.name,
      roles: rolesOf(row.roles),
      version: row.version,
      startedAt: new Date(Number(row.started)),
      seenAt: new Date(Number(row.seen)),
      seenMs: Math.max(0, Number(row.seen_ms)),
    }));
  }
}
