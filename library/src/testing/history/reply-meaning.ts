/**
 * What a reply promises to the sender.
 * - `acknowledged`: the event is applied, now or by an earlier delivery; or it was stored by an earlier one.
 * - `stored`: it is stored, and every consumer of its source is to apply it.
 * - `stopped`: no more of this event is wanted, and nothing is promised of it (a conflict, stale, no handler).
 * - `refused`: it is refused for good; nothing of it was done.
 * - `later`: nothing is promised; come again.
 */
export type Meaning = "acknowledged" | "stored" | "stopped" | "refused" | "later";

const NO_PROMISE = new Set(["conflict", "stale", "skipped"]);
// 4xx by number, but senders repeat them: nothing is refused for good.
const COME_AGAIN = new Set([408, 425, 429]);

/** Reads a reply as a sender would; where there is no verdict, a success is taken at its word. */
export function meaningOf(status: number, verdict: string | undefined): Meaning {
  // Before the status: some providers are told to stop by a 4xx.
  if (verdict !== undefined && NO_PROMISE.has(verdict)) return "stopped";
  if (status >= 200 && status < 300) return verdict === "stored" ? "stored" : "acknowledged";
  return status >= 400 && status < 500 && !COME_AGAIN.has(status) ? "refused" : "later";
}
