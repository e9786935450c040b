import type { Effect, Invariant, Stored } from "./invariant.js";
import type { HistoryRecord } from "./record.js";

interface Refused {
  /** False as soon as one reply, or the lack of one, leaves open that the event was taken. */
  always: boolean;
  readonly witness: readonly HistoryRecord[];
}

/** I4. One lost answer, or one that says "come again", and nothing is claimed of the event. */
export const refusalImpliesNone: Invariant = {
  name: "I4",
  promise: "an event whose every request was refused for good left nothing behind",
  watch(complain) {
    const events = new Map<string, Refused>();
    const left: (Effect | Stored)[] = [];
    const keys: string[] = [];
    const judge = (key: string, refused: boolean, witness: readonly HistoryRecord[]): void => {
      const known = events.get(key);
      if (known === undefined) events.set(key, { always: refused, witness });
      else known.always &&= refused;
    };
    return {
      see(seen) {
        if (seen.kind === "answered") judge(seen.key, seen.meaning === "refused", [seen.sent, seen.record]);
        if (seen.kind === "unanswered") judge(seen.key, false, [seen.sent]);
        // Only events that no request has cleared so far: for all others nothing needs to be kept.
        if ((seen.kind !== "effect" && seen.kind !== "stored") || events.get(seen.key)?.always !== true)
          return;
        left.push(seen.record);
        keys.push(seen.key);
      },
      end() {
        left.forEach((record, index) => {
          const known = events.get(keys[index] ?? "");
          if (known?.always !== true) return;
          const what = record.op === "effect" ? "an effect" : "a row in the inbox";
          complain(record.fields, `it was refused, and left ${what}`, [...known.witness, record]);
        });
      },
    };
  },
};
