import type { AsynchronousEnd, LongHandler } from "./long.js";
import type { Publication } from "../publication.js";
import type { InnerHandler, InnerPublishing } from "./handlers.js";
import {
  contextOf,
  HandlerFailure,
  publisherOf,
  receivedEvent,
  success,
  synchronousWork,
  unlessAborted,
} from "./prepare-work.js";
import type { Occasion, Work, WorkParts } from "./prepare-work.js";

/** Runs a long handler, without a transaction, and makes of its end what runs in one. */
export async function runLong<Tx>(
  parts: WorkParts<Tx>,
  handler: unknown,
  occasion: Occasion,
): Promise<Work<Tx>> {
  const { identified, signal } = occasion;
  const received = await receivedEvent(parts.schemas, occasion);
  const context = await contextOf(parts.observer, identified, signal);
  const run = handler as LongHandler<Tx, "asynchronous" | "synchronous">;
  let end: unknown;
  try {
    end = await unlessAborted(() => run(received, context), signal);
  } catch (error) {
    throw new HandlerFailure("handler", { cause: error });
  }
  if (typeof end !== "function") return () => success(end, context);
  if (parts.store.transactions === "synchronous")
    return synchronousWork(end as InnerHandler<Tx, InnerPublishing>, context, parts);
  return async (tx) => {
    const publish = async (events: Publication | readonly Publication[]): Promise<void> => {
      await publisherOf(parts).publish(events, { tx });
    };
    return success(await (end as AsynchronousEnd<Tx>)(tx, { publish }), context);
  };
}
