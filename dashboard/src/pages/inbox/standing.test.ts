import type { Delivery, InboxRow } from "posthorn/client";
import { expect, it } from "vitest";
import { consumersOf, consumerStanding, inboxEventLook } from "./standing.ts";

const row = (consumerId: string, outcome: InboxRow["outcome"]): InboxRow =>
  ({ consumerId, outcome }) as InboxRow;
const delivery = (endpointId: string, state: Delivery["state"]): Delivery =>
  ({ endpointId, state }) as Delivery;

it("an event is shown at every consumer that has a row or a delivery of it, once each", () => {
  const all = consumersOf({
    rows: [row("hnd_crm", "success")],
    deliveries: [delivery("hnd_crm", "delivered"), delivery("hnd_billing", "dead")],
  });
  expect(all.map(({ consumerId }) => consumerId)).toEqual(["hnd_billing", "hnd_crm"]);
  expect(all.map((each) => consumerStanding(each).word)).toEqual(["dead", "success"]);
  expect(inboxEventLook(all)).toMatchObject({ tone: "dead", word: "dead, handled by 1 of 2 consumers" });
});

it("a redriven delivery says more than the row of the round before it", () => {
  const [only] = consumersOf({ rows: [row("hnd_a", "failed")], deliveries: [delivery("hnd_a", "retrying")] });
  expect(only === undefined ? "" : consumerStanding(only).word).toBe("retrying");
});

it("an event that every handler has ended with is handled; a skip keeps its own word", () => {
  const rows = [row("hnd_a", "success"), row("hnd_b", "skipped")];
  expect(inboxEventLook(consumersOf({ rows, deliveries: [] })).word).toBe("handled by all 2");
  expect(inboxEventLook(consumersOf({ rows: rows.slice(1), deliveries: [] })).word).toBe("skipped");
  expect(inboxEventLook([]).word).toBe("refused");
});
