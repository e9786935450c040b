import type { Row, Value } from "./database.js";

// Names of columns reach nobody: a host may have told `postgres` to change them. They have to differ in a statement, because
// ORMs give rows as objects. A list of columns is therefore written once, with the name, the expression and the type of each, and makes both the text of the select and the reader of
// its rows.

/** One column: what is selected, and how its value is read. */
export interface Column<T> {
  readonly sql: string;
  readonly read: (value: Value) => T;
}

/** Columns of a select, in one order. */
export interface Columns<T> {
  /** For the select: each expression with its name. */
  readonly list: string;
  readonly size: number;
  /** Reads a row that has these columns, after `skip` others. */
  read(row: Row, skip?: number): T;
}

export function columns<T>(named: { readonly [Name in keyof T]: Column<T[Name]> }): Columns<T> {
  const entries = Object.entries<Column<T[keyof T]>>(named);
  return {
    // An object's fields that are numbers come first, whatever their order was: an ORM's rows are objects.
    list: entries.map(([name, { sql }]) => `${sql} as "${/^\d/.test(name) ? `_${name}` : name}"`).join(", "),
    size: entries.length,
    read(row, skip = 0) {
      const values: Record<string, unknown> = {};
      for (const [n, [name, column]] of entries.entries()) values[name] = column.read(row[skip + n]);
      return values as T;
    },
  };
}

export function text<T extends string = string>(sql: string): Column<T> {
  return { sql, read: (value) => textOf(value) as T };
}

/** A number that needs no more than 53 bits. */
export function number(sql: string): Column<number> {
  return { sql: `(${sql})::text`, read: (value) => Number(textOf(value)) };
}

/** A sequence, an epoch or an id. */
export function bigint(sql: string): Column<bigint> {
  return { sql: `(${sql})::text`, read: (value) => BigInt(textOf(value)) };
}

export function boolean(sql: string): Column<boolean> {
  return { sql: `(${sql})::text`, read: (value) => textOf(value) === "true" };
}

/** A time, to the millisecond. */
export function instant(sql: string): Column<Date> {
  return { sql: `${millisecondsOf(sql)}::text`, read: (value) => new Date(Number(textOf(value))) };
}

/** The length of an interval. */
export function milliseconds(sql: string): Column<number> {
  return { sql: `${millisecondsOf(sql)}::text`, read: (value) => Number(textOf(value)) };
}

export function bytes(sql: string): Column<Uint8Array> {
  return { sql, read: bytesOf };
}

/** A column that may be null, which reads as undefined. */
export function optional<T>({ sql, read }: Column<T>): Column<T | undefined> {
  return { sql, read: (value) => (value === null || value === undefined ? undefined : read(value)) };
}

/** SQL for a time or an interval in whole milliseconds, as they are read. */
export function millisecondsOf(sql: string): string {
  return `(extract(epoch from ${sql}) * 1000)::int8`;
}

function textOf(value: Value): string {
  if (typeof value === "string") return value;
  throw new TypeError(`A column is ${value === null ? "null" : typeof value}; expected text.`);
}

function bytesOf(value: Value): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`A column is ${value === null ? "null" : typeof value}; expected bytes.`);
}
