import { PosthornError } from "../../posthorn-error.js";
import type { InboxErrorCode } from "../inbox-errors.js";

const FORMS: Readonly<Record<"synchronous" | "long", string>> = {
  synchronous:
    "There is no `tx` here. On SQLite the handler has the form `async (event) => (tx) => { … }`: it may await first, and " +
    "writes in the function that it returns.",
  long: "A long handler has no transaction: what it returns has, `return (tx) => { … }`.",
};

/**
 * Puts something into the place of `tx` that says the right form when it is used: "Cannot read properties of undefined" would name no
 * cause. A handler that is written for both kinds of stores may take it, and leave it. It is not enumerable, so that a context
 * can be copied and printed.
 */
export function withoutTx<Context extends object>(context: Context, form: keyof typeof FORMS): Context {
  return Object.defineProperty(context, "tx", { value: IN_PLACE[form], enumerable: false });
}

const IN_PLACE = { synchronous: misplacedTx("synchronous"), long: misplacedTx("long") };

function misplacedTx(form: keyof typeof FORMS): object {
  const use = (): never => misplaced(FORMS[form]);
  return new Proxy(use, { get: (_, name) => (typeof name === "symbol" ? undefined : use()) });
}

/** In the place of `once`, in a handler that runs in a transaction. */
export function onceMisplaced(): never {
  return misplaced("`once` belongs to long handlers: `{ long: async (event, { once }) => { … } }`.");
}

function misplaced(message: string): never {
  throw new PosthornError<InboxErrorCode>("handler_misplaced", message);
}
