import type { PosthornError } from "../../../../posthorn-error.js";
import type { Parameter } from "../database.js";

/**
 * An ORM's own client, as `fromDrizzle` and the others describe it: how it opens a transaction, and how a statement runs in
 * one. `Tx` is what the ORM hands to the callback of a transaction, and what handlers get.
 */
export interface OrmClient<Tx> {
  /** The ORM's name, for messages. */
  readonly orm: string;
  /** Opens a transaction of the ORM, read committed, which ends by what comes of `work`. */
  begin(work: (tx: Tx) => Promise<void>, limits: { readonly acquireMs: number }): Promise<unknown>;
  /** Runs a statement with `$1` and so on; without `tx`, in a transaction of its own. Gives its rows, as the ORM reads them. */
  run(query: OrmQuery, tx: Tx | undefined): Promise<readonly unknown[]>;
  /** The ORM's own word on whether this is a transaction that is open. */
  isOpen(tx: Tx): boolean;
  /** Writes what the ORM holds back until the commit. */
  flush?(tx: Tx): Promise<void>;
  /**
   * Has the statements of the handler judged before they are sent; `judge` throws for those that must not be. Gives what the
   * handler gets, and what is to be done before the ORM ends the transaction itself.
   */
  guard?(tx: Tx, judge: Judge): { readonly tx: Tx; readonly release?: () => void };
}

/** A statement of Posthorn's own. */
export interface OrmQuery {
  readonly text: string;
  readonly params: readonly Parameter[];
  /** Several statements, whose rows nobody reads. */
  readonly script: boolean;
}

/** Says whether a statement of the handler may be sent: throws where it may not. */
export interface Judge {
  (text: string): void;
  /** What the call of a method that ends the transaction comes to. */
  readonly owned: (method: string) => PosthornError;
}

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

type Call = (...args: unknown[]) => unknown;

/** Replaces methods of an object that lives as long as its transaction. Gives what puts them back. */
export function replaceMethods(
  target: object,
  replace: Readonly<Record<string, (own: Call) => Call>>,
): () => void {
  const holder = target as Record<string, unknown>;
  const undo = Object.entries(replace).map(([name, make]) => {
    const own = Object.getOwnPropertyDescriptor(target, name);
    const before = holder[name] as Call;
    holder[name] = make((...args) => Reflect.apply(before, target, args));
    return (): void => {
      if (own) Object.defineProperty(target, name, own);
      else delete holder[name];
    };
  });
  return () => undo.forEach((each) => each());
}

/** A method that sends a statement, which is judged first; a refusal rejects, as a failed statement does. */
export function judged(judge: Judge, textIn: (first: unknown) => string): (own: Call) => Call {
  return (own) =>
    (...args) =>
      new Promise((resolve) => {
        judge(textIn(args[0]));
        resolve(own(...args));
      });
}

/** The text of a compiled query. */
export function compiledText(query: unknown): string {
  return (query as { readonly sql?: string }).sql ?? "";
}

/** A method that ends the transaction, as long as the handler has it. */
export function refused(judge: Judge, method: string): () => () => Promise<never> {
  return () => () => Promise.reject(judge.owned(method));
}

/** The text of a query of a driver: a text, or options that have one. */
export function textOf(query: unknown): string {
  if (typeof query === "string") return query;
  const { text } = (query ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}
