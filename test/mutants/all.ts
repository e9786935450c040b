import { APPLYING } from "./applying.js";
import type { StoreMutant, SuiteName } from "./mutant.js";
import { POSTGRES_INBOX } from "./postgres-inbox.js";
import { POSTGRES_OUTBOX } from "./postgres-outbox.js";
import { SQLITE } from "./sqlite.js";

/** Every planted bug of a real store. */
export const STORE_MUTANTS: readonly StoreMutant[] = [
  ...SQLITE,
  ...POSTGRES_INBOX,
  ...POSTGRES_OUTBOX,
  ...APPLYING,
];

/** What stays green whatever is planted: a bug that breaks everything proves nothing about the case that finds it. */
export const CONTROLS: Readonly<Record<Exclude<SuiteName, "targeted">, string>> = {
  outbox: "a claim holds everything that an attempt needs",
  inbox: "an event is applied and known as a success",
  dedup: "an id that one process recorded is a duplicate in every other",
};
