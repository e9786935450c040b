import { unknownOption } from "./known-options.js";
import { PosthornError } from "./posthorn-error.js";
import type { StoreErrorCode } from "./store-errors.js";

/**
 * Refuses a misspelt option of a store, of a dedup or of a migration: passed over, ids of all sources would have one scope, or
 * the tables of another set would be made.
 */
export function checkStoreOptions(name: string, given: unknown, known: Readonly<object>): void {
  // A pool or a handle in the place of options has names of its own; it is refused as a client that is missing.
  const { constructor: made } = Object(given) as { readonly constructor?: { readonly name: string } };
  const unknown =
    made === undefined || made.name === "Object" ? unknownOption(name, given, known) : undefined;
  const found =
    typeof given === "object" && given !== null
      ? unknown
      : `The options of ${name} are ${given === undefined ? "missing" : `of type ${typeof given}`}; expected an object of ${Object.keys(known).join(", ")}.`;
  if (found !== undefined) throw new PosthornError<StoreErrorCode>("store_option_invalid", found);
}
