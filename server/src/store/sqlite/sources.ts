import type { SecretSeal } from "posthorn";
import { Listeners } from "../source.js";
import type { DecideSourceChange, SourceRecord, SourceRegistry } from "../source.js";
import { sourceOf, storedSource } from "../stored-source.js";
import type { StoredSource } from "../stored-source.js";
import type { RegistryDatabase } from "./database.js";

const COLUMNS = "name, tenant, scheme, secrets, definition, created_at as createdMs, version";
const COUNTED = "update posthorn_source_config set version = version + 1";

export class SqliteSources implements Required<SourceRegistry> {
  readonly #db: RegistryDatabase;
  readonly #seal: SecretSeal;
  readonly #listeners = new Listeners();

  constructor(db: RegistryDatabase, seal: SecretSeal) {
    this.#db = db;
    this.#seal = seal;
  }

  addSource(source: SourceRecord): Promise<boolean> {
    const { name, tenant, scheme, secrets, definition, createdMs, version } = storedSource(
      source,
      this.#seal,
    );
    return this.#changing(
      `insert into posthorn_source (name, tenant, scheme, secrets, definition, created_at, version)
       values (?, ?, ?, ?, ?, ?, ?) on conflict (name) do nothing`,
      [name, tenant, scheme, secrets, definition, createdMs, version],
    );
  }

  async changeSource(name: string, decide: DecideSourceChange): Promise<SourceRecord | undefined> {
    for (;;) {
      const before = await this.readSource(name);
      if (before === undefined) return undefined;
      const change = decide(before);
      const after = Object.freeze({ ...before, ...change, version: before.version + 1 });
      const { tenant, scheme, secrets, definition, version } = storedSource(after, this.#seal);
      // Without new secrets, the sealed ones stay as they are, even if they could not be opened.
      const sealed = change.secrets === undefined ? null : secrets;
      // Of two concurrent changes, the second would undo the first; it reads and decides again instead.
      const changed = await this.#changing(
        `update posthorn_source set tenant = ?, scheme = ?, secrets = coalesce(?, secrets), definition = ?, version = ?
         where name = ? and version = ?`,
        [tenant, scheme, sealed, definition, version, name, before.version],
      );
      if (changed)
        return change.secrets === undefined ? after : Object.freeze({ ...after, unopened: undefined });
    }
  }

  async removeSource(name: string): Promise<boolean> {
    const removed = await this.#changing("delete from posthorn_source where name = ?", [name]);
    // Rejected requests are capped per source; without the source they would stay for ever.
    await this.#db.run("delete from posthorn_rejected where source = ?", name);
    return removed;
  }

  async readSource(name: string): Promise<SourceRecord | undefined> {
    const [row] = await this.#db.all<StoredSource>(
      `select ${COLUMNS} from posthorn_source where name = ?`,
      name,
    );
    return row && sourceOf(row, this.#seal);
  }

  async listSources(page: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly SourceRecord[]> {
    const rows = await this.#db.all<StoredSource>(
      `select ${COLUMNS} from posthorn_source where name > ? order by name limit ?`,
      page.after ?? "",
      page.limit,
    );
    return rows.map((row) => sourceOf(row, this.#seal));
  }

  async sourcesVersion(): Promise<string> {
    const [row] = await this.#db.all<{ version: number }>("select version from posthorn_source_config");
    return String(row?.version ?? "");
  }

  onSourcesChanged(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Runs a change and counts it in one transaction: who sees the new version sees the change. */
  async #changing(sql: string, values: readonly (string | number | null)[]): Promise<boolean> {
    const changed = await this.#db.transaction((run) => {
      const rows = run(sql, ...values);
      if (rows > 0) run(COUNTED);
      return rows > 0;
    });
    if (changed) this.#listeners.tell();
    return changed;
  }
}
