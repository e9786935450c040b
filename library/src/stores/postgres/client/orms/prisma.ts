import { judgedCopy } from "./judged-methods.js";
import type { OrmClient } from "./orm-client.js";
import { expectPostgres } from "./unsupported.js";

/** What of Prisma runs a statement: a client, or its interactive transaction. */
export interface PrismaRaw {
  $queryRawUnsafe(text: string, ...values: never[]): PromiseLike<unknown>;
  $executeRawUnsafe(text: string, ...values: never[]): PromiseLike<unknown>;
}

/** A Prisma client on Postgres. */
export interface PrismaDatabase<Tx> extends PrismaRaw {
  $transaction<T>(
    work: (tx: Tx) => Promise<T>,
    options?: { maxWait?: number; timeout?: number; isolationLevel?: "ReadCommitted" },
  ): Promise<T>;
}

// Prisma ends a transaction after five seconds by itself. The deadline of the handler, of a day at most, is Posthorn's to keep.
const NEVER_MS = 2 * 86_400_000;

/**
 * A Prisma client as the client of `postgresStore`: handlers get Prisma's `tx`.
 *
 * @example
 * const store = postgresStore({ client: fromPrisma(prisma) });
 */
export function fromPrisma<Tx extends PrismaRaw>(prisma: PrismaDatabase<Tx>): OrmClient<Tx> {
  // What its schema names as provider; a client that hides it is taken at its word.
  const { _activeProvider: provider } = prisma as { readonly _activeProvider?: unknown };
  if (typeof provider === "string") expectPostgres("Prisma", provider, /^postgres(?:ql)?$/);
  return {
    orm: "Prisma",
    begin: (work, { acquireMs }) =>
      prisma.$transaction(work, { maxWait: acquireMs, timeout: NEVER_MS, isolationLevel: "ReadCommitted" }),
    async run({ text, params, script }, tx) {
      const on = tx ?? prisma;
      // Its queries read the columns of one result.
      if (script) return on.$executeRawUnsafe(text).then(() => []);
      return (await on.$queryRawUnsafe(text, ...(params as never[]))) as readonly unknown[];
    },
    // A client that may connect is no transaction.
    isOpen: (tx) => "$queryRawUnsafe" in tx && (tx as { readonly $connect?: unknown }).$connect === undefined,
    guard: (tx, judge) => ({ tx: judgedCopy(tx, judge, { senders: SENDERS }) }),
  };
}

/** A text, the parts of a template, what `Prisma.sql` makes of them, or a query of TypedSQL. */
function textOfRaw(query: unknown): string {
  const { sql } = Object(query) as { readonly sql?: unknown };
  const text = sql ?? query;
  if (typeof text === "string") return text;
  const parts = Array.isArray(query) ? query : (query as { readonly strings?: unknown } | undefined)?.strings;
  return Array.isArray(parts) ? parts.join(" $1 ") : "";
}

const SENDERS = {
  $queryRaw: textOfRaw,
  $queryRawUnsafe: textOfRaw,
  $executeRaw: textOfRaw,
  $executeRawUnsafe: textOfRaw,
  $queryRawTyped: textOfRaw,
};
