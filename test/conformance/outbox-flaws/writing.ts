import type { MemoryTx } from "posthorn/memory";
import type { Written } from "../../../library/src/outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../library/src/outbox/outgoing-event.js";
import type { LaneRow } from "../../../library/src/stores/memory/lanes/lane-row.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { GivenIds } from "../../../library/src/stores/memory/outbox/given-ids.js";
import { Publications } from "../../../library/src/stores/memory/outbox/publications.js";
import { Wake } from "../../../library/src/work/wake.js";
import { tick } from "./flaw.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of `write` and `append`, and of what they let wait or lose. */
export const writingFlaws = {
  claims_more: {
    wrap: (inner) => ({ capabilities: { ...inner.capabilities, survivesPowerLoss: true } }),
  },
  rollback_leaves_the_event: {
    mutate: (swaps) =>
      swaps.swap(
        Publications.prototype,
        "write",
        () =>
          function (this: Publications, events) {
            return this.append(events);
          },
      ),
  },
  commit_loses_the_event: {
    mutate: (swaps) =>
      swaps.swap(Publications.prototype, "write", () => (events) => events.map(() => "written")),
  },
  order_of_a_call_reversed: {
    mutate: (swaps) => {
      for (const name of ["write", "append"] as const) {
        swaps.swap(
          Publications.prototype,
          name,
          (right: Publications["write"]) =>
            function (this: Publications, events: readonly OutgoingEvent[], tx: MemoryTx) {
              return right.call(this, events.toReversed(), tx).toReversed();
            },
        );
      }
    },
  },
  given_id_forgotten: {
    mutate: (swaps) => swaps.swap(GivenIds.prototype, "add", () => () => "written"),
  },
  given_id_of_a_rollback_remembered: {
    wrap: (inner) => {
      const seen = new Set<string>();
      return {
        write: (events, tx) => {
          for (const { id, idGiven } of events) if (idGiven) seen.add(id);
          return inner.write(events, tx);
        },
        append: async (events) =>
          events.every(({ id }) => seen.has(id)) ? events.map(() => "duplicate") : inner.append(events),
      };
    },
  },
  given_id_twice_in_a_call: {
    wrap: (inner) => ({
      append: async (events) => {
        const ids = events.map(({ id }) => id);
        if (new Set(ids).size === ids.length) return inner.append(events);
        return inner.append(unnamed(events));
      },
    }),
  },
  conflict_called_duplicate: {
    mutate: (swaps) => swapVerdict(swaps, "conflict", "duplicate"),
  },
  conflict_written: {
    mutate: (swaps) => swapVerdict(swaps, "conflict", "written"),
  },
  duplicate_called_conflict: {
    mutate: (swaps) => swapVerdict(swaps, "duplicate", "conflict"),
  },
  conflict_lets_the_others_in: {
    wrap: (inner) => ({
      append: async (events) => {
        const verdicts = await inner.append(events);
        const fine = events.filter((_, index) => verdicts[index] === "written");
        if (verdicts.includes("conflict")) await inner.append(fine);
        return verdicts;
      },
    }),
  },
  ids_across_tenants: {
    mutate: (swaps) =>
      swaps.swap(
        GivenIds.prototype,
        "add",
        (right) =>
          function (this: GivenIds, event) {
            return right.call(this, { ...event, tenant: "" });
          },
      ),
  },
  ids_without_case: {
    mutate: (swaps) =>
      swaps.swap(
        GivenIds.prototype,
        "add",
        (right) =>
          function (this: GivenIds, event) {
            return right.call(this, { ...event, id: event.id.toLowerCase() });
          },
      ),
  },
  bell_not_rung: { wrap: () => ({ wake: new Wake() }) },
  appends_out_of_order: {
    wrap: (inner) => ({
      append: gathered(async (calls) =>
        (await inTurn((events) => inner.append(events), calls.toReversed())).toReversed(),
      ),
    }),
  },
  conflict_spoils_the_batch: {
    wrap: (inner) => ({
      append: gathered(async (calls) => {
        const written = await inTurn((events) => inner.append(events), calls);
        const spoilt = written.flat().includes("conflict");
        return spoilt ? written.map((each) => each.map(() => "conflict")) : written;
      }),
    }),
  },
  check_then_insert: {
    wrap: (inner) => {
      const known = new Set<string>();
      return {
        append: async (events) => {
          const given = events.filter(({ idGiven }) => idGiven);
          if (given.length !== 1 || events.length !== 1) return inner.append(events);
          const id = JSON.stringify([given[0]?.tenant, given[0]?.id]);
          if (known.has(id)) return inner.append(events);
          await tick();
          known.add(id);
          const [verdict] = await inner.append(events);
          if (verdict === "duplicate") await inner.append(unnamed(events));
          return ["written"];
        },
      };
    },
  },
  write_answers_at_once: {
    wrap: (inner) => ({
      write: (events, tx) => {
        void inner.write(events, tx);
        return events.map(() => "written") as unknown as Promise<readonly Written[]>;
      },
    }),
  },
  duplicate_poisons_the_transaction: {
    wrap: (inner) => {
      const poisoned = new WeakSet<MemoryTx>();
      return {
        write: async (events, tx) => {
          if (poisoned.has(tx)) throw new Error("current transaction is aborted");
          const verdicts = await inner.write(events, tx);
          if (verdicts.some((each) => each !== "written")) poisoned.add(tx);
          return verdicts;
        },
      };
    },
  },
  late_commit_passed_over: {
    wrap: (inner) => {
      let numbered = 0;
      let placed = 0;
      return {
        append: (events) => ((placed = ++numbered), inner.append(events)),
        write: (events, tx) => {
          const number = ++numbered;
          const late: MemoryTx = {
            id: tx.id,
            onCommit: (effect) => tx.onCommit(() => placed < number && effect()),
          };
          return inner.write(events, late);
        },
      };
    },
  },
  open_transaction_locks_all: {
    wrap: (inner) => {
      let open = Promise.resolve();
      return {
        append: async (events) => (await open, inner.append(events)),
        write: async (events, tx) => {
          await open;
          // Not for ever: the lock of a transaction that rolls back would hang the run.
          open = new Promise((resolve) => {
            tx.onCommit(resolve);
            setTimeout(resolve, 1000);
          });
          return inner.write(events, tx);
        },
      };
    },
  },
  rollback_leaves_a_gap: {
    mutate: (swaps) => {
      const lanes = new WeakMap<Publications, LaneRow>();
      let appended: readonly LaneRow[] = [];
      swaps.swap(
        LaneTable.prototype,
        "append",
        (right) =>
          function (this: LaneTable, lane, ...given) {
            appended = [lane];
            right.call(this, lane, ...given);
          },
      );
      swaps.swap(
        Publications.prototype,
        "append",
        (right) =>
          function (this: Publications, events) {
            appended = [];
            const verdicts = right.call(this, events);
            for (const lane of appended) lanes.set(this, lane);
            return verdicts;
          },
      );
      swaps.swap(
        Publications.prototype,
        "write",
        (right) =>
          function (this: Publications, events, tx) {
            const lane = lanes.get(this);
            if (lane !== undefined) lane.end += 1n;
            return right.call(this, events, tx);
          },
      );
    },
  },
  sequence_gap: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "append",
        (right) =>
          function (this: LaneTable, lane, ...given) {
            right.call(this, lane, ...given);
            if (lane.end % 5n === 0n) lane.end += 1n;
          },
      ),
  },
  stage_not_drained_before_a_change: {
    wrap: (inner) => staged(inner, false),
  },
  sequenced_by_two: {
    wrap: (inner) => staged(inner, true),
  },
  lane_goes_back: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "laneOf",
        (right) =>
          function (this: LaneTable, endpointId, key) {
            return right.call(this, endpointId, key, 1n);
          },
      ),
  },
} satisfies Readonly<Record<string, Flaw>>;

function unnamed(events: readonly OutgoingEvent[]): readonly OutgoingEvent[] {
  return events.map((event) => ({ ...event, idGiven: false }));
}

function swapVerdict(swaps: Swaps, from: Written, to: Written): void {
  swaps.swap(
    GivenIds.prototype,
    "add",
    (right) =>
      function (this: GivenIds, event) {
        const verdict = right.call(this, event);
        return verdict === from ? to : verdict;
      },
  );
}

type Append = (events: readonly OutgoingEvent[]) => Promise<readonly Written[]>;

/** Gathers the calls of one moment. */
function gathered(
  flush: (calls: readonly (readonly OutgoingEvent[])[]) => Promise<readonly (readonly Written[])[]>,
): Append {
  let calls: {
    readonly events: readonly OutgoingEvent[];
    readonly answer: (written: readonly Written[]) => void;
  }[] = [];
  const flushAll = async (): Promise<void> => {
    const batch = calls;
    calls = [];
    const written = await flush(batch.map(({ events }) => events));
    batch.forEach(({ answer }, index) => answer(written[index] ?? []));
  };
  return (events) =>
    new Promise((answer) => {
      if (calls.push({ events, answer }) === 1) queueMicrotask(() => void flushAll());
    });
}

async function inTurn(
  append: Append,
  calls: readonly (readonly OutgoingEvent[])[],
): Promise<(readonly Written[])[]> {
  const written: (readonly Written[])[] = [];
  for (const events of calls) written.push(await append(events));
  return written;
}

/** Events wait until somebody sequences them, whatever happens to endpoints before. */
function staged(
  inner: { append: Append },
  racing: boolean,
): { append: Append; sequence: () => Promise<{ events: number; more: boolean }> } {
  let stage: OutgoingEvent[] = [];
  return {
    append: async (events) => {
      if (events.some(({ idGiven }) => idGiven)) return inner.append(events);
      stage.push(...events);
      return events.map(() => "written");
    },
    sequence: async () => {
      const batch = stage;
      if (racing) await tick();
      if (!racing || stage === batch) stage = [];
      await inner.append(batch);
      return { events: batch.length, more: false };
    },
  };
}
