import type { EventInput } from "posthorn/client";
import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import { fakeClient } from "../../../../test/cli/fake-client.js";
import { Traffic } from "./traffic.js";

it("traffic keeps its rate, numbers each customer's events and stops at once", async () => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const client = fakeClient({ "events.publish": () => [] });
  let turn = 0;
  const random = (): number => (turn++ % 10) / 10;
  const traffic = new Traffic({
    client,
    tenant: "demo",
    customers: 3,
    rate: 20,
    clock,
    signal: stop.signal,
    random,
  });
  const running = traffic.run();
  await clock.advance(2000);
  stop.abort();
  await clock.until(running);
  expect(traffic.published).toBe(40);
  const events = client.calls.flatMap(([, batch]) => batch as EventInput[]);
  const numbers = new Map<string | undefined, number[]>();
  for (const { key, data } of events) {
    const { number } = data as { number: number };
    numbers.set(key, [...(numbers.get(key) ?? []), number]);
  }
  expect(new Set(numbers.keys())).toEqual(new Set(["customer-1", "customer-2", "customer-3"]));
  for (const of of numbers.values()) expect(of).toEqual(of.map((_, index) => index + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(40);
});
