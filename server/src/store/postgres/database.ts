import type { Pool } from "pg";
import { registryFailure } from "../registry-failure.js";

// undefined_table and invalid_schema_name.
const MISSING = new Set(["42P01", "3F000"]);

/** The pool, with one kind of error, and the names of the tables in their schema. */
export class RegistryDatabase {
  readonly #pool: Pool;
  readonly #schema: string;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#schema = `"${schema.replaceAll('"', '""')}"`;
  }

  table(name: "source" | "source_config" | "token" | "session" | "rejected" | "probe"): string {
    return `${this.#schema}.${name}`;
  }

  /** Runs one statement, which is its own transaction. Rows are read as the texts that it selects. */
  async query<Row>(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query({ text, values })).rows as Row[];
    } catch (error) {
      throw registryFailure(error, (cause) => MISSING.has(String((cause as { code?: unknown }).code)));
    }
  }
}
