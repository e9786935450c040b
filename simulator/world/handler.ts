import type { AsynchronousHandler, Publishing } from "../../library/src/inbox/handler/handlers.js";
import type { Life } from "./life.js";
import type { HandlerPlan } from "../script/script.js";
import type { SimulatedStore } from "./simulated-store.js";
import { bodyOf } from "./wire-event.js";

/** What the handlers of a run work with. */
export interface HandlerParts {
  readonly store: SimulatedStore;
  readonly life: Life;
  /** How often each event's handler was begun: the outside world's memory, which no crash takes. */
  readonly begun: Map<string, number>;
}

interface Told {
  readonly number: number;
  readonly key?: string;
  readonly handler?: HandlerPlan;
}

/** The number of an event that a handler publishes is the number of its cause plus this. */
export const PASSED_ON_FROM = 1000;

/** The handler of every event: it writes that it has had its effect, and does with it what the event's plan says. */
export function handlerOf({
  store,
  life,
  begun,
}: HandlerParts): AsynchronousHandler<unknown, Told, Publishing> {
  return async ({ source, data }, context) => {
    const { number, key, handler } = data;
    const name = `${source} ${number}`;
    const times = (begun.get(name) ?? 0) + 1;
    begun.set(name, times);
    store.write(context.tx, effectRow(source, number));
    if (handler === "slow") await life.sleep(20 + 150 * life.random.next());
    if (handler === "throws_always" || (handler === "throws_once" && times === 1)) throw new Error(handler);
    if (handler === "hangs_once" && times === 1) await new Promise(() => undefined);
    if (handler !== "passes_on") return;
    const passed = number + PASSED_ON_FROM;
    const body = bodyOf({ type: "passed.on", number: passed, key, handler: "works" });
    await context.publish({
      type: "passed.on",
      id: `evt_${passed}`,
      body,
      ...(key !== undefined && { key }),
    });
  };
}

/** A row that nothing keeps from being there twice: an event applied twice is seen. */
export function effectRow(source: string, number: number): string {
  return `effect ${source} ${number}`;
}

/** The host's own row beside an event that is published in its transaction. */
export function businessRow(number: number): string {
  return `business ${number}`;
}
