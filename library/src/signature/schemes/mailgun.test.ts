import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import { verifySync } from "../verify.js";
import { MAILGUN, mailgun } from "./mailgun.js";

const SIGNATURE = {
  timestamp: "1403645220",
  token: "5egbgr1vjgqxtrnp65xfznchgdccwh5d6i09vijqi3whgowmn6",
  signature: "9cfc5c41582e51246e73c88d34db3af0a3a2692a76fbab81492842f000256d33",
};

it("a signature is accepted for as long as Mailgun may repeat it, whether or not it signs anew", () => {
  expect([MAILGUN.toleranceS, MAILGUN.retryHorizonS]).toEqual([29_100, 28_800]);
  const clock = { ...systemClock, now: () => (1_403_645_220 + MAILGUN.retryHorizonS) * 1000 };
  const verifier = mailgun({ secrets: "key-3ax6xnjp29jd6fds4gc373sgvjxteol0", clock });
  const body = utf8(JSON.stringify({ signature: SIGNATURE }));
  expect(verifySync(verifier, { headers: {}, body }).keyIndex).toBe(0);
});

it("406 is the reply that makes Mailgun give an event up", () => {
  expect(MAILGUN.replies.stopEvent).toEqual({ status: 406 });
});

it("a token of absurd length is refused before it is hashed", () => {
  const body = utf8(JSON.stringify({ signature: { ...SIGNATURE, token: "x".repeat(257) } }));
  expect(() =>
    verifySync(mailgun({ secrets: "key-3ax6xnjp29jd6fds4gc373sgvjxteol0" }), { headers: {}, body }),
  ).toThrow(expect.objectContaining({ code: "body_malformed" }));
});
