import type { Effect, Invariant, Sent } from "./invariant.js";

/** I2. The rows and the increments beside them are counted apart: a transaction that was torn has one without the other. */
export const effectOnce: Invariant = {
  name: "I2",
  promise: "an event has at most one effect",
  watch(complain) {
    const firstSent = new Map<string, Sent>();
    const firstEffect = new Map<string, Effect>();
    return {
      see(seen) {
        if (seen.kind === "sent" && !firstSent.has(seen.key)) firstSent.set(seen.key, seen.record);
        if (seen.kind === "effect") {
          const first = firstEffect.get(seen.key);
          const sent = firstSent.get(seen.key);
          if (first === undefined) firstEffect.set(seen.key, seen.record);
          else
            complain(seen.record.fields, "its work was done twice", [
              ...(sent ? [sent] : []),
              first,
              seen.record,
            ]);
        }
        if (seen.kind !== "effects_read") return;
        const { rows, counted } = seen.record.fields;
        if (rows === counted) return;
        complain(undefined, `${rows} effects stand beside ${counted} increments: work was torn`, [
          seen.record,
        ]);
      },
      end() {},
    };
  },
};
