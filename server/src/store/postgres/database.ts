import type { Pool, QueryConfig } from "pg";
import { registryFailure } from "../registry.js";

// A request with a token and a request to a source may wait this long for the database, and a probe for longer than it takes.
const DEADLINE_MS = 5000;
// undefined_table and invalid_schema_name.
const MISSING = new Set(["42P01", "3F000"]);

/** Runs statements on the pool with one kind of error; knows the tables' schema. */
export class RegistryDatabase {
  readonly #pool: Pool;
  readonly #schema: string;
  readonly #deadlineMs: number;

  constructor(pool: Pool, schema: string, deadlineMs: number = DEADLINE_MS) {
    this.#pool = pool;
    this.#deadlineMs = deadlineMs;
    this.#schema = `"${schema.replaceAll('"', '""')}"`;
  }

  table(
    name:
      | "source"
      | "source_config"
      | "token"
      | "session"
      | "rejected"
      | "probe"
      | "series"
      | "node"
      | "operation"
      | "operation_item"
      | "audit"
      | "dead_note",
  ): string {
    return `${this.#schema}.${name}`;
  }

  /**
   * Runs one statement, which is its own transaction. Statements select texts. What was not answered within the deadline
   * may have been done all the same.
   */
  async query<Row>(text: string, values: unknown[] = []): Promise<readonly Row[]> {
    try {
      // The pool closes a connection that has not answered by then: another query would wait on it for ever.
      const statement: QueryConfig & { query_timeout: number } = {
        text,
        values,
        query_timeout: this.#deadlineMs,
      };
      return (await this.#inTime(this.#pool.query(statement))).rows as Row[];
    } catch (error) {
      throw registryFailure(error, (cause) => MISSING.has(String((cause as { code?: unknown }).code)));
    }
  }

  /** A query may wait for a connection as well, which the time of the statement does not include. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`no answer within ${this.#deadlineMs} ms`)),
        this.#deadlineMs,
      );
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
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
