import { sql } from "drizzle-orm";
import { drizzle as onPg } from "drizzle-orm/node-postgres";
import { drizzle as onPostgres } from "drizzle-orm/postgres-js";
import { fromDrizzle } from "posthorn/orm";
import postgres from "postgres";
import { driverOf, opened, pgPool } from "./subject.js";

export const drizzle = driverOf({ name: "drizzle on pg", commit: "commit" }, (options) => {
  const pool = pgPool(options);
  return opened(fromDrizzle(onPg({ client: pool }), sql), {
    inside: (tx, text) => tx.execute(sql.raw(text)),
    end: () => pool.end(),
  });
});

export const drizzleOnPostgres = driverOf(
  { name: "drizzle on postgres", commit: "commit" },
  ({ url, max }) => {
    const client = postgres(url, { max, prepare: false, onnotice: () => undefined });
    return opened(fromDrizzle(onPostgres({ client }), sql), {
      inside: (tx, text) => tx.execute(sql.raw(text)),
      end: () => client.end({ timeout: 1 }),
    });
  },
);
