import type { Pool } from "pg";
import { registryFailure } from "../registry.js";

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

  table(name: "source" | "source_config" | "token" | "rejected" | "probe"): string {
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

/** A column of an instant as its milliseconds, in text: the driver's own reading of times can be changed by anybody. */
export function msOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::int8::text`;
}

/** A parameter of milliseconds as an instant. */
export function instantOf(parameter: string): string {
  return `to_timestamp(${parameter}::text::float8 / 1000)`;
}

export function dateOf(ms: string): Date;
export function dateOf(ms: string | null): Date | undefined;
export function dateOf(ms: string | null): Date | undefined {
  return ms === null ? undefined : new Date(Number(ms));
}
