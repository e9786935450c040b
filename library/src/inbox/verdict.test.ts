import { describe, expect, it } from "vitest";
import type { Scheme } from "../signature/scheme.js";
import { MAILGUN } from "../signature/schemes/mailgun.js";
import { SLACK } from "../signature/schemes/slack.js";
import { HUBSPOT } from "../signature/schemes/hubspot.js";
import { STRIPE } from "../signature/schemes/stripe.js";
import { STANDARD_WEBHOOKS } from "../signature/schemes/standard.js";
import { isWorse, replyTo, UNAVAILABLE, worstOf } from "./verdict.js";
import type { Verdict } from "./verdict.js";

const VERDICTS: readonly Verdict[] = [
  "applied",
  "stored",
  "skipped",
  "duplicate",
  "conflict",
  "stale",
  "busy",
  "saturated",
  "failed",
  "unavailable",
];

describe("replies", () => {
  it("no verdict is ever answered with 409 or 410, which make senders give up or disable the endpoint", () => {
    for (const scheme of [STANDARD_WEBHOOKS, STRIPE, SLACK, MAILGUN, HUBSPOT]) {
      for (const verdict of VERDICTS) expect([409, 410]).not.toContain(replyTo(verdict, scheme).status);
    }
  });

  it("a duplicate gets the provider's success status and a header that says so", () => {
    expect(replyTo("duplicate", STRIPE)).toEqual({
      status: STRIPE.replies.success.status,
      headers: { "posthorn-verdict": "duplicate" },
    });
  });

  it("a conflict stops this event only, in the provider's own way", () => {
    expect(replyTo("conflict", MAILGUN).status).toBe(406);
    expect(replyTo("stale", SLACK).headers?.["x-slack-no-retry"]).toBe("1");
    expect(replyTo("conflict", STANDARD_WEBHOOKS).headers?.["webhook-delivery"]).toBe("abort-message");
    expect(replyTo("conflict", STRIPE).status).toBe(STRIPE.replies.success.status);
  });

  it("one conflict among many events of a request does not stop the others", () => {
    const batch: Scheme = { ...MAILGUN, batch: true };
    expect(replyTo("conflict", batch).status).toBe(batch.replies.success.status);
  });

  it("tell the id under which the event is stored, and that its exact bytes name it", () => {
    const { success } = SLACK.replies;
    expect(replyTo("stored", SLACK, { event: "evt_1", fellBack: true })).toEqual({
      ...success,
      headers: {
        ...success.headers,
        "posthorn-verdict": "stored",
        "posthorn-event": "evt_1",
        "posthorn-content": "raw",
      },
    });
    expect(replyTo("stored", STRIPE, { event: undefined, fellBack: false }).headers).toEqual({
      "posthorn-verdict": "stored",
    });
  });

  it.each([
    ["busy", "1"],
    ["saturated", "1"],
    ["unavailable", "5"],
  ] as const)("%s asks the sender to come again", (verdict, retryAfter) => {
    expect(replyTo(verdict, STANDARD_WEBHOOKS)).toEqual({
      status: 503,
      headers: { "retry-after": retryAfter, "posthorn-verdict": verdict },
    });
  });

  it("slow a provider down in its own way", () => {
    const slowed: Scheme = { ...STRIPE, replies: { ...STRIPE.replies, slowDown: { status: 429 } } };
    expect(replyTo("saturated", slowed)).toEqual({
      status: 429,
      headers: { "posthorn-verdict": "saturated" },
    });
  });

  it("without a scheme can only be that nothing is available", () => {
    expect(UNAVAILABLE).toEqual(replyTo("unavailable", STRIPE));
  });

  it("a failed handler is answered with 5xx, so that the event comes again", () => {
    expect(replyTo("failed", STRIPE).status).toBe(500);
  });
});

describe("the worst verdict", () => {
  it("speaks for a request with many events, so that nothing unfinished is acknowledged", () => {
    expect(worstOf(["applied", "failed", "duplicate"])).toBe("failed");
    expect(worstOf(["busy", "conflict"])).toBe("busy");
    expect(worstOf(["duplicate", "applied"])).toBe("duplicate");
  });

  it("is the one that promises least", () => {
    expect(isWorse("conflict", "duplicate")).toBe(true);
    expect(isWorse("duplicate", "stored")).toBe(true);
    expect(isWorse("stored", "stored")).toBe(false);
    expect(isWorse("stored", "conflict")).toBe(false);
  });

  it("is a success for a request without events, of which nothing was applied", () => {
    expect(worstOf([])).toBe("skipped");
  });
});
