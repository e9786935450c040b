import type BetterSqlite from "better-sqlite3";
import type { Pool, PoolClient } from "pg";
import { createReceiver, createSender, typed, typedEvents } from "posthorn";
import { fetchHandler } from "posthorn/fetch";
import { nodeListener } from "posthorn/node";
import { postgresDedup, postgresStore } from "posthorn/postgres";
import { stripe, github } from "posthorn/providers";
import { sqliteStore } from "posthorn/sqlite";
import { describe, expectTypeOf, it } from "vitest";

// What must not compile. Nothing here runs: the compiler is the test.

declare const pool: Pool;
declare const client: PoolClient;
declare const db: BetterSqlite.Database;
const sources = { stripe: stripe({ secrets: "whsec_test" }), github: github({ secrets: "a secret" }) };

/** Compiled, and never called. */
function compiled(_program: () => unknown): void {}

describe("the types of a receiver", () => {
  it("refuse a key that names an unknown source, and take those that name a known one", () => {
    compiled(() => {
      const store = postgresStore({ client: pool });
      createReceiver({
        store,
        sources,
        handlers: { "stripe:invoice.paid": () => 1, "github:*": () => 1, "*": () => 1 },
      });
      // @ts-expect-error -- there is no source of this name
      createReceiver({ store, sources, handlers: { "strpe:invoice.paid": () => 1 } });
      // @ts-expect-error -- nor with a wildcard
      createReceiver({ store, sources, handlers: { "gitlab:*": () => 1 } });
    });
  });

  it("refuse a type that no schema names, where there are schemas", () => {
    compiled(() => {
      const store = postgresStore({ client: pool });
      const schemas = {
        "invoice.paid": typed<{ amount: number }>(),
        "github:push": typed<{ ref: string }>(),
      };
      createReceiver({
        store,
        sources,
        schemas,
        handlers: {
          "invoice.paid": ({ data }, { tx }) => {
            expectTypeOf(data).toEqualTypeOf<{ amount: number }>();
            expectTypeOf(tx).toEqualTypeOf<PoolClient>();
          },
          "github:push": ({ data }) => expectTypeOf(data).toEqualTypeOf<{ ref: string }>(),
          push: () => 1,
          "stripe:*": () => 1,
          "*": () => 1,
        },
      });
      // @ts-expect-error -- a typo beside a schema
      createReceiver({ store, sources, schemas, handlers: { "invoice.payd": () => 1 } });
      // @ts-expect-error -- also behind a source
      createReceiver({ store, sources, schemas, handlers: { "stripe:invoice.payd": () => 1 } });
    });
  });

  it("give a key that names a source the schema of its type", () => {
    compiled(() => {
      createReceiver({
        store: postgresStore({ client: pool }),
        sources,
        schemas: { "invoice.paid": typed<{ amount: number }>() },
        handlers: {
          "stripe:invoice.paid": ({ data }) => expectTypeOf(data).toEqualTypeOf<{ amount: number }>(),
        },
      });
    });
  });

  it("come from a provider's own union of events in one line, beside schemas of other sources", () => {
    // As the package `stripe` has it.
    interface Paid {
      readonly type: "invoice.paid";
      readonly data: { readonly object: { readonly amount_paid: number } };
    }
    interface Completed {
      readonly type: "checkout.session.completed";
      readonly data: { readonly object: { readonly client_reference_id: string | null } };
    }
    compiled(() => {
      const store = postgresStore({ client: pool });
      const schemas = { ...typedEvents<Paid | Completed>(), "github:push": typed<{ ref: string }>() };
      createReceiver({
        store,
        sources,
        schemas,
        handlers: {
          "invoice.paid": ({ data }) => expectTypeOf(data).toEqualTypeOf<Paid>(),
          "stripe:checkout.session.completed": ({ data }) => expectTypeOf(data).toEqualTypeOf<Completed>(),
          "github:push": ({ data }) => expectTypeOf(data).toEqualTypeOf<{ ref: string }>(),
        },
      });
      // @ts-expect-error -- a typo beside the union
      createReceiver({ store, sources, schemas, handlers: { "invoice.payd": () => 1 } });
    });
  });

  it("refuse a sender of another database", () => {
    compiled(() => {
      const publisher = createSender({ store: sqliteStore({ db }) });
      createReceiver({ store: sqliteStore({ db }), sources, publisher, handlers: {} });
      // @ts-expect-error -- it writes into handles of SQLite
      createReceiver({ store: postgresStore({ client: pool }), sources, publisher, handlers: {} });
    });
  });

  it("have publish only where there is a publisher", () => {
    compiled(() => {
      const store = postgresStore({ client: pool });
      createReceiver({
        store,
        sources,
        publisher: createSender({ store }),
        handlers: { "*": (_event, { publish }) => publish({ type: "order.paid", data: {} }) },
      });
      createReceiver({
        store,
        sources,
        // @ts-expect-error -- without a publisher there is nothing to publish with
        handlers: { "*": (_event, { publish }) => publish({ type: "order.paid", data: {} }) },
      });
      const inner = sqliteStore({ db });
      createReceiver({
        store: inner,
        sources,
        publisher: createSender({ store: inner }),
        handlers: {
          "*":
            () =>
            (_tx, { publish }) =>
              publish({ type: "order.paid", data: {} }),
        },
      });
      createReceiver({
        store: inner,
        sources,
        handlers: {
          "*":
            () =>
            // @ts-expect-error -- nor inside of SQLite's transaction
            (_tx, { publish }) =>
              publish({ type: "order.paid", data: {} }),
        },
      });
    });
  });

  it("refuse a mode that is none, and handlers beside the mode that has none", () => {
    compiled(() => {
      const store = postgresStore({ client: pool });
      createReceiver({ mode: "store_first", store, sources });
      // @ts-expect-error -- misspelt
      createReceiver({ mode: "store-first", store, sources });
      // @ts-expect-error -- they belong to a worker
      createReceiver({ mode: "store_first", store, sources, handlers: { "*": () => 1 } });
    });
  });

  it("refuse an outer function on SQLite that forgot its inner one", () => {
    compiled(() => {
      const store = sqliteStore({ db });
      createReceiver({
        store,
        sources,
        handlers: {
          "stripe:invoice.paid": async (event) => {
            if (event.data.livemode !== true) return () => {};
            await Promise.resolve();
            return (tx) => {
              expectTypeOf(tx).toEqualTypeOf<BetterSqlite.Database>();
            };
          },
          // @ts-expect-error -- what it writes would not be in the transaction
          "github:push": async () => {
            await Promise.resolve();
          },
        },
      });
    });
  });

  it("refuse an asynchronous inner function on SQLite, and take what a statement returns", () => {
    compiled(() => {
      const store = sqliteStore({ db });
      createReceiver({
        store,
        sources,
        handlers: {
          "*": async ({ id }) => {
            await Promise.resolve();
            return (tx) => tx.prepare("insert into t values (?)").run(id);
          },
        },
      });
      createReceiver({ store, sources, handlers: { "*": () => () => {} } });
      // @ts-expect-error -- what it writes after an await would land outside of the transaction
      createReceiver({ store, sources, handlers: { "*": () => async () => {} } });
      // @ts-expect-error -- a handler without an inner function writes nowhere
      createReceiver({ store, sources, handlers: { "*": () => 1 } });
    });
  });

  it("refuse an adapter for a source that the receiver does not have", () => {
    compiled(() => {
      const receiver = createReceiver({ store: postgresStore({ client: pool }), sources, handlers: {} });
      nodeListener(receiver, { source: "stripe" });
      nodeListener(receiver, { source: (request) => request.url ?? "" });
      fetchHandler(receiver, { source: "github" });
      // @ts-expect-error -- a typo
      nodeListener(receiver, { source: "strpe" });
      // @ts-expect-error -- the same for requests of fetch
      fetchHandler(receiver, { source: "strpe" });
    });
  });

  it("keep pools and transactions of a dedup apart", () => {
    compiled(() => {
      postgresDedup({ client: pool });
      postgresDedup({ tx: client });
      // @ts-expect-error -- a pool is no transaction
      postgresDedup({ tx: pool });
      // @ts-expect-error -- a connection is no pool
      postgresDedup({ client });
    });
  });
});
