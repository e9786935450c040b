import type { Parameter } from "../database.js";
import type { OrmQuery } from "./orm-client.js";

/** Texts between parameters, and the parameters in the order in which they stand there: for ORMs that number them anew. */
export interface SplitQuery {
  readonly strings: readonly string[];
  readonly values: readonly Parameter[];
}

/** Splits at `$1` and so on; a parameter that stands there twice is given twice. */
export function splitQuery({ text, params }: OrmQuery): SplitQuery {
  if (params.length === 0) return { strings: [text], values: [] };
  const strings: string[] = [];
  const values: Parameter[] = [];
  let from = 0;
  for (const { 0: found, 1: number, index } of text.matchAll(/\$(\d+)/g)) {
    strings.push(text.slice(from, index));
    values.push(params[Number(number) - 1] as Parameter);
    from = index + found.length;
  }
  return { strings: [...strings, text.slice(from)], values };
}

/** Rows of a result that is an array of them, or has them under `rows`: it depends on the ORM's driver. */
export function rowsOf(result: unknown): readonly unknown[] {
  if (Array.isArray(result)) return result as readonly unknown[];
  const { rows } = (result ?? {}) as { readonly rows?: unknown };
  return Array.isArray(rows) ? (rows as readonly unknown[]) : [];
}

/** The text of a query of a driver: a text, or options that have one. */
export function textOf(query: unknown): string {
  if (typeof query === "string") return query;
  const { text } = (query ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}

/** The text of a compiled query. */
export function compiledText(query: unknown): string {
  return (query as { readonly sql?: string }).sql ?? "";
}
