import { PosthornError } from "./posthorn-error.js";
import type { StoreErrorCode } from "./store-errors.js";

/**
 * Refuses what is no store when the part is made. A pool in its place would fail at the first event, as a database that is
 * down: with 503, and with words about a missing function.
 */
export function checkStore(part: string, store: unknown, verb: string): void {
  if (typeof (Object(store) as Readonly<Record<string, unknown>>)[verb] === "function") return;
  throw new PosthornError<StoreErrorCode>(
    "store_client_unsupported",
    `The store of the ${part} is ${described(store)}; expected ` +
      "postgresStore({ client: pool }) of posthorn/postgres, sqliteStore({ db }) of posthorn/sqlite, or memoryStore() of posthorn/memory.",
  );
}

/** By its class: a value may hold a password. */
function described(value: unknown): string {
  if (value === null || typeof value !== "object") return value === null ? "null" : `of type ${typeof value}`;
  if (typeof (value as { then?: unknown }).then === "function") return "a promise: await it";
  const { name } = Object(Object.getPrototypeOf(value)?.constructor) as { name?: unknown };
  return typeof name === "string" && name !== "Object"
    ? `a ${name}`
    : "an object that no store function made";
}
