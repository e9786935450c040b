import type { Invariant, Sent } from "./invariant.js";

/**
 * I1. An answer that was lost counts as sent: the request may have arrived. A request with a wrong signature
 * counts as nothing.
 */
export const noPhantom: Invariant = {
  name: "I1",
  promise: "every effect comes from a signed request with the same bytes, and none from another",
  watch(complain) {
    const sentBy = new Map<string, Sent[]>();
    return {
      see(seen) {
        if (seen.kind === "sent") {
          const sent = sentBy.get(seen.key);
          if (sent === undefined) sentBy.set(seen.key, [seen.record]);
          else if (!sent.some((each) => isAlike(each, seen.record))) sent.push(seen.record);
        }
        if (seen.kind === "answered" && !seen.sent.fields.genuine && seen.meaning === "acknowledged") {
          const found = "a request that nobody with the secret has signed was acknowledged";
          complain(seen.sent.fields, found, [seen.sent, seen.record]);
        }
        if (seen.kind !== "effect") return;
        const { fields } = seen.record;
        const sent = sentBy.get(seen.key) ?? [];
        const same = sent.filter((each) => each.fields.bodyHash === fields.bodyHash);
        if (same.some((each) => each.fields.genuine)) return;
        const found =
          same.length > 0 ? "an effect of a forged request" : "an effect of bytes that nobody sent";
        complain(fields, found, [...sent.slice(0, 2), seen.record]);
      },
      end() {},
    };
  },
};

function isAlike({ fields: a }: Sent, { fields: b }: Sent): boolean {
  return a.bodyHash === b.bodyHash && a.genuine === b.genuine;
}
