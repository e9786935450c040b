import { booleanArray, numberArray, packBytes, textArray } from "./column-arrays.js";
import type { Parameter } from "./database.js";

// Rows go to the server as one array for each column: one plan serves every number of rows. A list of columns is written
// once, with the name, the type and the value of each, and makes both the text of the table and its parameters.

/** One column of rows that are given to a statement. */
export interface GivenColumn<Item> {
  readonly type: string;
  readonly literal: (items: readonly Item[]) => string;
}

/** Rows that are given to a statement. */
export interface GivenRows<Item> {
  /** How many parameters they take. */
  readonly size: number;
  /** The rows as a table of this name, from the parameter `$from` on; its last column is `n`, their number from 1 on. */
  table(name: string, from?: number): string;
  params(items: readonly Item[]): Parameter[];
}

/**
 * @param named - the columns, by their names.
 * @param packed - columns of bytes. All values of one travel as one string of bytes, and the arrays say where each lies
 *   in it: in an array of byte strings, each byte would be two characters.
 */
export function givenRows<Item>(
  named: Readonly<Record<string, GivenColumn<Item>>>,
  packed: Readonly<Record<string, (item: Item) => Uint8Array | undefined>> = {},
): GivenRows<Item> {
  const plain = Object.keys(named);
  const bytes = Object.keys(packed);
  const places = bytes.flatMap((column) => [`${column}_start`, `${column}_length`]);
  const types = [...Object.values(named).map(({ type }) => type), ...places.map(() => "int4")];
  return {
    size: types.length + bytes.length,
    table(name, from = 1) {
      const arrays = types.map((type, n) => `$${from + n}::${type}[]`).join(", ");
      const rows = (alias: string): string =>
        `unnest(${arrays}) with ordinality as ${alias} (${[...plain, ...places, "n"].join(", ")})`;
      if (bytes.length === 0) return rows(name);
      const parts = bytes.map((column, n) => {
        const all = `$${from + types.length + n}::bytea`;
        return `substring(${all} from ${column}_start for ${column}_length) as ${column}`;
      });
      return `(select ${[...plain, ...parts, "n"].join(", ")} from ${rows("given_rows")}) as ${name}`;
    },
    params(items) {
      const strings = Object.values(packed).map((of) => packBytes(items.map(of)));
      return [
        ...Object.values(named).map((column) => column.literal(items)),
        ...strings.flatMap(({ starts, lengths }) => [starts, lengths]),
        ...strings.map((string) => string.bytes),
      ];
    },
  };
}

export function texts<Item>(of: (item: Item) => string | undefined): GivenColumn<Item> {
  return { type: "text", literal: (items) => textArray(items.map(of)) };
}

export function numbers<Item>(
  type: "int2" | "int4" | "int8" | "float8",
  of: (item: Item) => number | bigint | undefined,
): GivenColumn<Item> {
  return { type, literal: (items) => numberArray(items.map(of)) };
}

export function booleans<Item>(of: (item: Item) => boolean): GivenColumn<Item> {
  return { type: "bool", literal: (items) => booleanArray(items.map(of)) };
}
