import type { Delivery } from "posthorn/client";
import { count } from "../../words/format.ts";
import type { Look } from "../../words/words.ts";

const isState =
  (state: Delivery["state"]) =>
  (delivery: Pick<Delivery, "state">): boolean =>
    delivery.state === state;

/** How an event stands at all of its endpoints together. */
export function eventLook(deliveries: readonly Pick<Delivery, "state" | "endpointId">[]): Look {
  const total = deliveries.length;
  const landed = deliveries.filter(isState("delivered")).length;
  const dead = deliveries.filter(isState("dead"));
  const cancelled = deliveries.filter(isState("cancelled")).length;
  const of = total === 1 ? "" : ` at ${landed} of ${total} endpoints`;
  if (total === 0) return { tone: "disabled", icon: "s-silent", word: "no endpoint takes it" };
  if (dead.length > 0) {
    const where = dead.length === 1 ? dead[0]?.endpointId : count(dead.length, "endpoint");
    const before = landed === 0 ? "" : `landed${of}, `;
    return { tone: "dead", icon: "s-dead", word: total === 1 ? "dead" : `${before}dead at ${where}` };
  }
  if (landed === total)
    return { tone: "landed", icon: "s-landed", word: total === 1 ? "landed" : `landed at all ${total}` };
  if (deliveries.some(isState("retrying")))
    return { tone: "retrying", icon: "s-retrying", word: `retrying, landed${of || " nowhere yet"}` };
  if (landed + cancelled === total)
    return { tone: "disabled", icon: "s-disabled", word: landed === 0 ? "cancelled" : `landed${of}` };
  return { tone: "waiting", icon: "s-waiting", word: landed === 0 ? "waiting" : `landed${of}` };
}
