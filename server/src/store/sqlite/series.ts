import type { Clock } from "posthorn";
import type { NodeRecord, SeenNode, SeriesKind, SeriesRegistry, SeriesRow, SeriesSpan } from "../series.js";
import { countsOf, rolesOf } from "../stored-series.js";
import type { RegistryDatabase } from "./database.js";

interface Row {
  readonly at: number;
  readonly name: string;
  readonly counts: string;
  readonly duration: string;
  readonly lag: string;
}

interface NodeRow {
  readonly name: string;
  readonly roles: string;
  readonly version: string;
  readonly started_at: number;
  readonly seen_at: number;
}

const DAY_MS = 86_400_000;

export class SqliteSeries implements SeriesRegistry {
  readonly #db: RegistryDatabase;
  readonly #clock: Pick<Clock, "now">;

  constructor(db: RegistryDatabase, clock: Pick<Clock, "now">) {
    this.#db = db;
    this.#clock = clock;
  }

  async recordSeries(node: string, rows: readonly SeriesRow[]): Promise<void> {
    if (rows.length === 0) return;
    // Not synced: a power failure may cost the last seconds of a chart, and the events must not wait for it.
    await this.#db.unsynced((run) => {
      for (const { step, kind, at, name, counts, duration, lag } of rows) {
        run(
          `insert into posthorn_series (step, kind, at, name, node, counts, duration, lag)
           values (?, ?, ?, ?, ?, ?, ?, ?)
           on conflict (step, kind, at, name, node) do update
             set counts = excluded.counts, duration = excluded.duration, lag = excluded.lag`,
          step,
          kind,
          at.getTime(),
          name,
          node,
          JSON.stringify(counts),
          duration,
          lag,
        );
      }
    });
  }

  async readSeries({ step, kind, since, until, name }: SeriesSpan): Promise<readonly SeriesRow[]> {
    const rows = await this.#db.all<Row>(
      `select at, name, counts, duration, lag from posthorn_series
       where step = ? and kind = ? and at >= ? and at < ? and (? is null or name = ?) order by at`,
      step,
      kind,
      since.getTime(),
      until.getTime(),
      name ?? null,
      name ?? null,
    );
    return rows.map((row) => ({
      step,
      kind,
      at: new Date(row.at),
      name: row.name,
      counts: countsOf(row.counts),
      duration: row.duration,
      lag: row.lag,
    }));
  }

  async lastSeen(kind: SeriesKind, since: Date): Promise<ReadonlyMap<string, Date>> {
    const rows = await this.#db.all<{ readonly name: string; readonly at: number }>(
      `select name, max(at) as at from posthorn_series
       where step in (60, 3600) and kind = ? and at >= ? group by name`,
      kind,
      since.getTime(),
    );
    return new Map(rows.map(({ name, at }) => [name, new Date(at)]));
  }

  forgetSeries(step: SeriesRow["step"], before: Date, limit: number): Promise<number> {
    return this.#db.unsynced((run) =>
      run(
        `delete from posthorn_series where (step, kind, at, name, node) in (
           select step, kind, at, name, node from posthorn_series
           where step = ? and kind in ('total', 'source', 'endpoint') and at < ? limit ?)`,
        step,
        before.getTime(),
        limit,
      ),
    );
  }

  async recordNode({ name, roles, version, startedAt }: NodeRecord): Promise<void> {
    const nowMs = this.#clock.now();
    await this.#db.unsynced((run) => {
      run("delete from posthorn_node where seen_at < ? and name <> ?", nowMs - DAY_MS, name);
      run(
        `insert into posthorn_node (name, roles, version, started_at, seen_at) values (?, ?, ?, ?, ?)
         on conflict (name) do update set roles = excluded.roles, seen_at = excluded.seen_at`,
        name,
        JSON.stringify(roles),
        version,
        startedAt.getTime(),
        Math.floor(nowMs),
      );
    });
  }

  async forgetNode(name: string): Promise<void> {
    await this.#db.unsynced((run) => run("delete from posthorn_node where name = ?", name));
  }

  async listNodes(withinMs: number): Promise<readonly SeenNode[]> {
    const nowMs = this.#clock.now();
    const rows = await this.#db.all<NodeRow>(
      "select name, roles, version, started_at, seen_at from posthorn_node where seen_at > ? order by name",
      nowMs - withinMs,
    );
    return rows.map((row) => ({
      name: row.name,
      roles: rolesOf(row.roles),
      version: row.version,
      startedAt: new Date(row.started_at),
      seenAt: new Date(row.seen_at),
      seenMs: Math.max(0, nowMs - row.seen_at),
    }));
  }
}
