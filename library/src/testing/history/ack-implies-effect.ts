import type { Invariant, Sent } from "./invariant.js";
import type { HistoryRecord } from "./record.js";

interface Acknowledged {
  readonly sent: Sent;
  readonly reply: HistoryRecord;
}

/**
 * I3. A lost answer promises nothing. A look that began after an acknowledgement must find the effect: at the end
 * of the run it would be there too, had it been committed after the reply.
 */
export const ackImpliesEffect: Invariant = {
  name: "I3",
  promise: "an event that was acknowledged has its effect, from before the reply on",
  watch(complain) {
    const acknowledged = new Map<string, Acknowledged>();
    const withEffect = new Set<string>();
    return {
      see(seen) {
        switch (seen.kind) {
          case "answered": {
            const first = seen.meaning === "acknowledged" && !acknowledged.has(seen.key);
            if (first) acknowledged.set(seen.key, { sent: seen.sent, reply: seen.record });
            return;
          }
          case "effect":
            withEffect.add(seen.key);
            return;
          case "looked": {
            const known = acknowledged.get(seen.key);
            if (known === undefined || known.reply.n > seen.asked.n || seen.record.fields.effects > 0) return;
            const found = "it was acknowledged before its work was committed";
            complain(seen.asked.fields, found, [known.sent, known.reply, seen.record]);
            return;
          }
          case "sent":
          case "unanswered":
          case "stored":
          case "effects_read":
          case "inbox_read":
        }
      },
      end() {
        for (const [key, { sent, reply }] of acknowledged) {
          if (!withEffect.has(key)) complain(sent.fields, "it was acknowledged and is lost", [sent, reply]);
        }
      },
    };
  },
};
