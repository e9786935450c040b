import { PosthornError } from "../../posthorn-error.js";
import type { InboxErrorCode } from "../inbox-errors.js";

const FORMS: Readonly<Record<"synchronous" | "long", string>> = {
  synchronous:
    "There is no `tx` here. On SQLite the handler has the form `async (event) => (tx) => { … }`: it may await first, and " +
    "writes in the function that it returns.",
  long: "A long handler has no transaction: what it returns has, `return (tx) => { … }`.",
};

/**
 * Says the right form to a handler that takes `tx` where there is none: "Cannot read properties of undefined" would name no
 * cause. It is not enumerable, so that a context can be copied and printed.
 */
export function withoutTx<Context extends object>(context: Context, form: keyof typeof FORMS): Context {
  return Object.defineProperty(context, "tx", { get: () => misplaced(FORMS[form]), enumerable: false });
}

/** In the place of `once`, in a handler that runs in a transaction. */
export function onceMisplaced(): never {
  return misplaced("`once` belongs to long handlers: `{ long: async (event, { once }) => { … } }`.");
}

function misplaced(message: string): never {
  throw new PosthornError<InboxErrorCode>("handler_misplaced", message);
}
