import { createFakeClock, inboxConformance, outboxConformance } from "posthorn/testing";
import { ModelStore } from "../../simulator/model/store.js";
import type { InboxHarness, NarrowOutboxHarness } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";

// What the simulator's findings are worth depends on its store: it keeps the promises that real stores keep.

type Tx = ReturnType<ModelStore["begin"]>;

function opened() {
  const clock = createFakeClock();
  const store = new ModelStore({ clock, batch: 100 });
  const time = { tickS: 3600, pass: (ms: number) => clock.advance(ms) };
  return { store, time, close: () => Promise.resolve() };
}

const { capabilities } = opened().store;
const claims = { capabilities, transactions: "asynchronous", exactTime: true } as const;

const outbox: NarrowOutboxHarness<Tx> = {
  ...claims,
  gateway: false,
  listsCancelled: true,
  open() {
    const { store, ...bench } = opened();
    return Promise.resolve({
      ...bench,
      outboxes: [store.outbox, store.outbox],
      async transaction(work) {
        const tx = store.begin();
        try {
          const result = await work(tx);
          store.commit(tx);
          return result;
        } catch (error) {
          store.rollback(tx);
          throw error;
        }
      },
      cancelled: () => Promise.resolve(store.cancelled()),
    });
  },
};

const inbox: InboxHarness<Tx> = {
  ...claims,
  listsRefused: false,
  runsStatements: false,
  saturates: false,
  losesAnswers: false,
  open() {
    const { store, ...bench } = opened();
    return Promise.resolve({
      ...bench,
      stores: [store, store],
      write: (tx, mark) => store.write(tx, mark),
      written: () => Promise.resolve([...store.written().keys()]),
    });
  },
};

runConformance("the model outbox", outboxConformance(outbox));
runConformance("the model inbox", inboxConformance(inbox));
