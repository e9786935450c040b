import { unlessAgain } from "./again.js";
import type { AsynchronousEnd, LongHandler } from "./long.js";
import type { HandlerContext, InnerHandler, InnerNewest, InnerPublishing } from "./handlers.js";
import { withoutTx } from "./misplaced.js";
import {
  awaitingEnd,
  contextOf,
  HandlerFailure,
  receivedEvent,
  scopeOf,
  success,
  synchronousWork,
  unlessAborted,
  versionsOf,
} from "./prepare-work.js";
import type { Occasion, Work, WorkParts } from "./prepare-work.js";
import type { Stepping } from "./steps.js";

interface LongOccasion {
  readonly occasion: Occasion;
  readonly steps: (context: HandlerContext) => Stepping;
}

/** Runs a long handler, without a transaction, and makes of its end what runs in one. */
export async function runLong<Tx>(
  parts: WorkParts<Tx>,
  handler: unknown,
  { occasion, steps }: LongOccasion,
): Promise<Work<Tx>> {
  const { signal } = occasion;
  const received = await receivedEvent(parts.schemas, occasion);
  const context = await contextOf(parts.observer, occasion);
  const { once } = steps(context);
  const run = handler as LongHandler<Tx, "asynchronous" | "synchronous">;
  let end: unknown;
  try {
    end = unlessAgain(
      await unlessAborted(() => run(received, withoutTx({ ...context, once }, "long")), signal),
    );
  } catch (error) {
    throw new HandlerFailure("handler", { cause: error });
  }
  if (typeof end !== "function") return () => success(end, context);
  const around = { context, parts, versions: versionsOf(parts, scopeOf(occasion)), brought: undefined };
  return parts.store.transactions === "synchronous"
    ? synchronousWork(end as InnerHandler<Tx, InnerNewest & InnerPublishing>, around)
    : awaitingEnd(end as AsynchronousEnd<Tx>, around);
}
