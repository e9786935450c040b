import { createReceiver } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { orderedIds } from "./event-ids.js";
import { expectVerdict, shopVerifier, signedEvent, SOURCE } from "./signed-events.js";

// A quick run stops where most is won.
const EVENTS = { full: 20_000, quick: 5000 } as const;
const AT_ONCE = 64;

/**
 * Receives events into memory until the compiler has seen enough of the receiver. Behind a database a turn brings a
 * few thousand events, and the first thousand take five times the CPU of the ten-thousandth: without this, the
 * compiler would be measured, and the common pattern's few lines would look fast beside it.
 */
export async function warmReceiver(plan: keyof typeof EVENTS): Promise<void> {
  const nextId = orderedIds();
  const receiver = createReceiver({
    store: memoryStore({ environment: "test" }),
    sources: { [SOURCE]: shopVerifier() },
    handlers: { "*": () => Promise.resolve() },
  });
  const receiveOne = async (): Promise<void> =>
    expectVerdict(await receiver.receive(SOURCE, signedEvent(nextId())), "applied");
  for (let done = 0; done < EVENTS[plan]; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, receiveOne));
  }
}
