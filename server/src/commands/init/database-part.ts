/** How a template speaks to a database. */
export interface DatabasePart {
  /** The file that opens, migrates and closes it. */
  readonly file: string;
  /** The body of a handler's write; `tx` is the open transaction. */
  readonly write: string;
  /** What the handler's write takes from the file, beside the store. */
  readonly shared: readonly string[];
  /** SQLite's transactions are synchronous: its handlers have two steps. */
  readonly twoSteps: boolean;
}

/** A text in TypeScript; nothing in JavaScript. */
export type Typed = (text: string) => string;

export const TABLE = "received_event";
export const COLUMNS = "id text primary key, type text not null, data text not null";
export const NOTE = "// The handler's own table: replace it by yours.";
export const INSERT = `insert into ${TABLE} (id, type, data) values`;
