import type { Effect, Invariant, Sent, Stored } from "./invariant.js";

/** I12. The bytes that were sent, stored and handed to the handler are the same; every observer hashed its own. */
export const byteFidelity: Invariant = {
  name: "I12",
  promise: "the bytes of an event are the same when sent, stored, handled and acknowledged",
  watch(complain) {
    const sentBy = new Map<string, Sent[]>();
    const acknowledged = new Map<string, Sent>();
    const stored = new Map<string, Stored>();
    const effects = new Map<string, Effect>();
    return {
      see(seen) {
        if (seen.kind === "sent") {
          const sent = sentBy.get(seen.key) ?? [];
          if (sent.length === 0) sentBy.set(seen.key, sent);
          const known = sent.some(({ fields }) => fields.bodyHash === seen.record.fields.bodyHash);
          if (!known) sent.push(seen.record);
        }
        if (seen.kind === "answered" && seen.meaning === "acknowledged")
          acknowledged.set(seen.key, seen.sent);
        if (seen.kind === "effect") effects.set(seen.key, seen.record);
        if (seen.kind !== "stored") return;
        stored.set(seen.key, seen.record);
        const { fields } = seen.record;
        const sent = sentBy.get(seen.key) ?? [];
        if (fields.hashColumn !== fields.bodyHash)
          complain(fields, "its row holds other bytes than its hash says", [seen.record]);
        if (!sent.some((each) => each.fields.bodyHash === fields.bodyHash))
          complain(fields, "its row holds bytes that nobody sent", [...sent, seen.record]);
      },
      end() {
        for (const [key, effect] of effects) {
          const row = stored.get(key);
          const sent = acknowledged.get(key);
          const { bodyHash } = effect.fields;
          if (row?.fields.outcome === "success" && row.fields.bodyHash !== bodyHash)
            complain(effect.fields, "its handler got other bytes than were stored", [row, effect]);
          if (sent !== undefined && sent.fields.bodyHash !== bodyHash)
            complain(effect.fields, "other bytes were acknowledged than were handled", [sent, effect]);
        }
      },
    };
  },
};
