import type { Pool } from "pg";
import { registryFailure } from "../registry.js";

// undefined_table and invalid_schema_name.
const MISSING = new Set(["42P01", "3F000"]);

/** Runs statements on the pool with one kind of error; knows the tables' schema. */
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

  /** Runs one statement, which is its own transaction. Statements select texts. */
  async query<Row>(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query({ text, values })).rows as Row[];
    } catch (error) {
      throw registryFailure(error, (cause) => MISSING.has(String((cause as { code?: unknown }).code)));
    }
  }
}

/** SQL for the milliseconds of a timestamp column, as text: the driver's type parsers are global, and may be changed. */
export function msOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::int8::text`;
}

/** SQL for the timestamp of a parameter in milliseconds. */
export function instantOf(parameter: string): string {
  return `to_timestamp(${parameter}::text::float8 / 1000)`;
}

export function dateOf(ms: string): Date;
export function dateOf(ms: string | null): Date | undefined;
export function dateOf(ms: string | null): Date | undefined {
  return ms === null ? undefined : new Date(Number(ms));
}
