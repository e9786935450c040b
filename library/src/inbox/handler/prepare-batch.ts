import type { Publication } from "../../publication.js";
import { unlessAgain } from "./again.js";
import type { AsynchronousBatch, EventBatch, SynchronousBatch } from "./batch.js";
import type { InnerPublishing, Publishing } from "./handlers.js";
import { onceMisplaced, withoutTx } from "./misplaced.js";
import type { Handled } from "../inbox-store.js";
import { contextOf, isPromise, outer, publisherOf, receivedEvent } from "./prepare-work.js";
import type { Occasion, WorkParts } from "./prepare-work.js";

/** What runs in the transaction for `count` events, which must be those that it was prepared for. */
export type BatchWork<Tx> = (tx: Tx, count: number) => Promise<readonly Handled[]> | readonly Handled[];

/** As `prepareWork`, for a handler that is given many events at once. */
export async function prepareBatch<Tx>(
  parts: WorkParts<Tx>,
  handler: unknown,
  occasions: readonly [Occasion, ...Occasion[]],
): Promise<BatchWork<Tx>> {
  const [head] = occasions;
  const { signal } = head;
  const received: unknown[] = [];
  for (const each of occasions) received.push(await receivedEvent(parts.schemas, each));
  const events = received as unknown as EventBatch<unknown>;
  const { logger } = await contextOf(parts.observer, head);
  const all = events.map((): Handled => ({ outcome: "success" }));
  if (parts.store.transactions === "asynchronous") {
    const run = handler as AsynchronousBatch<Tx, unknown, Publishing>;
    return async (tx) => {
      const publish = async (given: Publication | readonly Publication[]): Promise<void> => {
        await publisherOf(parts).publish(given, { tx });
      };
      const context = { signal, logger, tx, publish, once: onceMisplaced };
      unlessAgain(await run(events, context));
      return all;
    };
  }
  const run = handler as SynchronousBatch<Tx, unknown, InnerPublishing>;
  const context = withoutTx({ signal, logger, once: onceMisplaced }, "synchronous");
  const inner = await outer(() => run(events, context), signal);
  return (tx, count) => {
    // The outer part has seen all of them: what it would write for one that is known already must not be written again.
    // The worker handles them one by one then.
    if (count !== events.length) throw new Error("An event of the batch was applied before.");
    const publish = (given: Publication | readonly Publication[]): void => {
      publisherOf(parts).publish(given, { tx });
    };
    const result: unknown = unlessAgain(inner(tx, { publish }));
    return isPromise(result) ? (result as Promise<readonly Handled[]>) : all;
  };
}
