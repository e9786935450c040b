import type { Effect, Invariant, Stored } from "./invariant.js";

/**
 * I5, for the inbox: the handler's work and the row that remembers it are of one transaction. Lost answers do not
 * matter: whatever became of the commit, it became of both. Judged where the inbox was read.
 */
export const together: Invariant = {
  name: "I5",
  promise: "an event's effect and the row that says so are both there, or neither",
  watch(complain) {
    const effects = new Map<string, Effect>();
    const rows = new Map<string, Stored>();
    let read = false;
    return {
      see(seen) {
        if (seen.kind === "effect") effects.set(seen.key, seen.record);
        if (seen.kind === "stored" && seen.record.fields.outcome === "success")
          rows.set(seen.key, seen.record);
        if (seen.kind === "inbox_read") read = true;
      },
      end() {
        if (!read) return;
        for (const [key, effect] of effects) {
          if (!rows.has(key)) complain(effect.fields, "its effect stands without its row", [effect]);
        }
        for (const [key, row] of rows) {
          if (!effects.has(key))
            complain(row.fields, "its row says success, and its effect is not there", [row]);
        }
      },
    };
  },
};
