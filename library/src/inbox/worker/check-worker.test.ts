import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { createWorker } from "./worker.js";

const clock = createFakeClock();
const store = memoryStore({ clock, environment: "test" });
const note = (): void => undefined;
const handlers = { "order.paid": note };

/** As a host without types would call it. */
function making(options: object): () => unknown {
  return () => createWorker({ store, clock, ...options });
}

describe("a worker is refused", () => {
  it.each([
    [{ handlers: null }, /handlers is null; expected functions by event type/],
    [{ handlers: [note] }, /handlers is a list; expected functions by event type/],
    [{ handlers: {} }, /handlers names no type/],
    [{ handlers: { "order.paid": undefined } }, /of type undefined; expected a function.*misspelt\.$/],
  ])("without handlers that could run: %o", (options, message) => {
    expect(making(options)).toThrow(message);
  });

  it.each([
    [{}, /needs `handlers` or `consumers`; it was given neither/],
    [{ handler: handlers }, /"handler" is no option of the worker; did you mean "handlers"/],
    [{ handlers, consumers: { billing: { handlers } } }, /either `handlers` or `consumers`, and not both/],
    [{ consumers: ["billing"] }, /consumers is a list; expected .*by name/],
    [
      { consumers: { billing: undefined } },
      /the consumer "billing" is of type undefined; expected \{ handlers/,
    ],
    [{ consumers: { billing: note } }, /the consumer "billing" is of type function; expected \{ handlers/],
    [{ consumers: { billing: handlers } }, /the consumer "billing": handlers is of type undefined/],
  ])("with consumers that are none: %o", (options, message) => {
    expect(making(options)).toThrow(message);
  });

  it.each(["hnd_billing", "HND_billing", "hnd_"])(
    "with a consumer that is named as the id of another: %s",
    (name) => {
      const message = `the consumer's name "${name}" begins as ids do`;
      expect(making({ consumers: { billing: { handlers }, [name]: { handlers } } })).toThrow(message);
    },
  );

  it.each(["sources", "order", "retry", "errors", "dead"])(
    "with `%s` beside `consumers`, which each have their own: it would count for nobody",
    (name) => {
      const options = { consumers: { billing: { handlers } }, [name]: name === "order" ? "none" : [] };
      expect(making(options)).toThrow(`\`${name}\` belongs to each of \`consumers\``);
    },
  );

  it.each([
    [{ sources: "shop" }, /sources is "shop"; expected a list/],
    [{ sources: [] }, /sources is \[\]; expected a list/],
    [{ sources: [1] }, /sources is \[1\]; expected a list/],
    [{ order: "keys" }, /order is "keys"; expected "key", "none" or \{ policy: "drop_stale"/],
    [{ order: null }, /order is null; expected/],
    [{ dead: "drop" }, /dead is "drop"; expected "halt", "skip" or "park"/],
    [{ retry: 5 }, /retry policy cannot be used: it is of type number; expected/],
    [{ slots: 1.5 }, /slots is 1.5; expected a whole number/],
    [{ stopGraceMs: "5" }, /stopGraceMs is 5; expected/],
    [{ stopGraceMs: Infinity }, /stopGraceMs is Infinity; expected/],
  ])("with an option that would be found out at the first event: %o", (option, message) => {
    expect(making({ handlers, ...option })).toThrow(message);
  });

  it("with a handler that is a batch and a long one at once", () => {
    const both = { batch: note, by: "key", max: 4, long: note };
    expect(making({ handlers: { "order.paid": both } })).toThrow(/a batch or a long handler, and not both/);
  });
});

it("a drain is refused with a limit whose name is misspelt: it would have none", async () => {
  const drained = createWorker({ store, clock, handlers }).drain({ deadline: 20_000 } as never);
  await expect(drained).rejects.toThrow('"deadline" is no option of a drain; did you mean "deadlineMs"?');
});

it.each([[5000], [null], [{ deadlineMs: Number.NaN }], [{ deadlineMs: -1 }], [{ deadlineMs: "5" }]])(
  "a drain is refused with a limit that is none: %o",
  async (limits) => {
    const drained = createWorker({ store, clock, handlers }).drain(limits as never);
    await expect(drained).rejects.toThrow(/drain cannot be limited so: .*expected \{ deadlineMs/);
  },
);
