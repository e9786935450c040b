import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { gitlab } from "./gitlab.js";

const verifier = gitlab({ secrets: "a token with spaces within" });
const headers = { "x-gitlab-token": "a token with spaces within", "idempotency-key": "k" };

it("a signing token is sent on to Standard Webhooks, which proves the body as well", () => {
  expect(() => gitlab({ secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" })).toThrow(
    expect.objectContaining({
      code: "secret_malformed",
      message:
        "secret 1 is a signing token, not a secret token. " +
        "Verify with standardWebhooks({ secrets }), which proves the body as well.",
    }),
  );
});

it.each(["pässword", " token", "token\n", "tok\ten"])(
  "a token that no header can carry unchanged, such as %j, is refused at construction",
  (secrets) => {
    expect(() => gitlab({ secrets })).toThrow(expect.objectContaining({ code: "secret_malformed" }));
  },
);

it.each(["x-gitlab-token", "idempotency-key", "x-gitlab-event"])(
  "a request with two %s headers is refused before its events are named",
  (name) => {
    const request = { headers: { ...headers, [name]: ["a", "b"] }, body: utf8("{}") };
    expect(() => verifySync(verifier, request)).toThrow(
      expect.objectContaining({ code: "header_malformed" }),
    );
  },
);

it.each(["", "{", '{"object_kind":7,"event_name":[]}'])(
  "an event of the body %j has no type where the header has none",
  (body) => {
    expect(readEvents(verifySync(verifier, { headers, body: utf8(body) }))).toMatchObject([
      { id: "k", type: "unknown", time: undefined },
    ]);
  },
);

it("no tolerance can be set, because no time is signed", () => {
  expect(() => gitlab({ secrets: "token", toleranceS: 300 })).toThrow(
    expect.objectContaining({ code: "option_invalid" }),
  );
});
