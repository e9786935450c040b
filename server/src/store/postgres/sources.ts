import type { SecretSeal } from "posthorn";
import { PosthornError } from "posthorn";
import { Listeners } from "../source.js";
import type { DecideSourceChange, SourceRecord, SourceRegistry } from "../source.js";
import { sourceOf, storedSource } from "../stored-source.js";
import { instantOf, msOf } from "./database.js";
import type { RegistryDatabase } from "./database.js";

interface Row {
  readonly name: string;
  readonly tenant: string;
  readonly scheme: string;
  readonly secrets: string;
  readonly definition: string;
  readonly created: string;
  readonly version: string;
}

const COLUMNS = `name, tenant, scheme, secrets, definition, ${msOf("created_at")} as created, version::text`;
const MOST_TRIES = 20;

export class PostgresSources implements Required<SourceRegistry> {
  readonly #db: RegistryDatabase;
  readonly #seal: SecretSeal;
  readonly #listeners = new Listeners();

  constructor(db: RegistryDatabase, seal: SecretSeal) {
    this.#db = db;
    this.#seal = seal;
  }

  async addSource(source: SourceRecord): Promise<boolean> {
    const { name, tenant, scheme, secrets, definition, createdMs, version } = storedSource(
      source,
      this.#seal,
    );
    const rows = await this.#changing(
      `insert into ${this.#db.table("source")} (name, tenant, scheme, secrets, definition, created_at, version)
       values ($1::text, $2::text, $3::text, $4::text, $5::text, ${instantOf("$6")}, $7::text::int8)
       on conflict (name) do nothing returning name`,
      [name, tenant, scheme, secrets, definition, String(createdMs), String(version)],
    );
    return rows > 0;
  }

  async changeSource(name: string, decide: DecideSourceChange): Promise<SourceRecord | undefined> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const before = await this.readSource(name);
      if (before === undefined) return undefined;
      const change = decide(before);
      const after = Object.freeze({ ...before, ...change, version: before.version + 1 });
      const { tenant, scheme, secrets, definition, version } = storedSource(after, this.#seal);
      // Without new secrets, the sealed ones stay as they are, even if they could not be opened.
      const sealed = change.secrets === undefined ? null : secrets;
      // Of two concurrent changes, the second would undo the first; it reads and decides again instead.
      const rows = await this.#changing(
        `update ${this.#db.table("source")}
         set tenant = $3::text, scheme = $4::text, secrets = coalesce($5::text, secrets), definition = $6::text,
           version = $7::text::int8
         where name = $1::text and version = $2::text::int8 returning name`,
        [name, String(before.version), tenant, scheme, sealed, definition, String(version)],
      );
      if (rows > 0)
        return change.secrets === undefined ? after : Object.freeze({ ...after, unopened: undefined });
    }
    throw new PosthornError(
      "store_unavailable",
      `The source "${name}" was changed by others ${MOST_TRIES} times while it was to be changed here. Try again.`,
    );
  }

  async removeSource(name: string): Promise<boolean> {
    const rows = await this.#changing(
      `delete from ${this.#db.table("source")} where name = $1::text returning name`,
      [name],
    );
    // Rejected requests are capped per source; without the source they would stay for ever.
    await this.#db.query(`delete from ${this.#db.table("rejected")} where source = $1::text`, [name]);
    return rows > 0;
  }

  async readSource(name: string): Promise<SourceRecord | undefined> {
    const [row] = await this.#db.query<Row>(
      `select ${COLUMNS} from ${this.#db.table("source")} where name = $1::text`,
      [name],
    );
    return row && this.#sourceOf(row);
  }

  async listSources(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly SourceRecord[]> {
    const rows = await this.#db.query<Row>(
      `select ${COLUMNS} from ${this.#db.table("source")} where name > $1::text order by name limit $2::text::int8`,
      [page.after ?? "", String(page.limit)],
    );
    return rows.map((row) => this.#sourceOf(row));
  }

  async sourcesVersion(): Promise<string> {
    const [row] = await this.#db.query<{ version: string }>(
      `select version::text from ${this.#db.table("source_config")}`,
    );
    return row?.version ?? "";
  }

  onSourcesChanged(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Runs a change and counts its rows. One statement: a node never sees the new version with old sources. */
  async #changing(change: string, values: unknown[]): Promise<number> {
    const [row] = await this.#db.query<{ changed: string }>(
      `with changed as (${change}), counted as (
         update ${this.#db.table("source_config")} set version = version + 1 where exists (select from changed)
       )
       select count(*)::text as changed from changed`,
      values,
    );
    const changed = Number(row?.changed ?? 0);
    if (changed > 0) this.#listeners.tell();
    return changed;
  }

  #sourceOf({ created, version, ...row }: Row): SourceRecord {
    return sourceOf({ ...row, createdMs: Number(created), version: Number(version) }, this.#seal);
  }
}
