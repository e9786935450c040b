import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { readEvents } from "../read-events.js";
import type { Verified } from "../scheme.js";
import { verifySync } from "../verify.js";
import { github } from "./github.js";

const SECRET = "It's a Secret to Everybody";
const verifier = github({ secrets: SECRET });

function receive(body: string, headers: Record<string, string | string[]>): Verified {
  const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
  return verifySync(verifier, {
    headers: { "x-hub-signature-256": signature, ...headers },
    body: utf8(body),
  });
}

function typeOf(body: string, event: string): string | undefined {
  return readEvents(receive(body, { "x-github-event": event }))[0]?.type;
}

describe("the type of a GitHub event", () => {
  it("is read from the payload of a form whatever the content type says, which is not signed", () => {
    expect(typeOf("payload=%7B%22action%22%3A%22opened%22%7D", "issues")).toBe("issues.opened");
  });

  it.each(["", "[]", "{", '{"action":7}', '{"action":""}', "payload=%7B", "payload=%zz", "other=1"])(
    "is the header's word when the body is %j",
    (body) => {
      expect(typeOf(body, "issues")).toBe("issues");
    },
  );

  it("is unknown without the header", () => {
    expect(readEvents(receive('{"action":"opened"}', {}))[0]?.type).toBe("unknown");
  });
});

it.each(["x-github-delivery", "x-github-event"])("a %s header that stands twice is refused", (name) => {
  expect(() => receive("{}", { [name]: ["a", "b"] })).toThrow(
    expect.objectContaining({ code: "header_malformed" }),
  );
});

function handshake(body: string, event: string): unknown {
  return verifier.scheme.handshake?.(receive(body, { "x-github-event": event }));
}

describe("a ping of GitHub's", () => {
  it("is answered and brings no event", () => {
    expect(handshake('{"zen":"Design for failure.","hook_id":1}', "ping")).toEqual({ status: 200 });
  });

  it("is recognised by header and body together, so that no event vanishes by a changed header", () => {
    expect(handshake('{"ref":"refs/heads/main"}', "ping")).toBeUndefined();
    expect(handshake('{"zen":"Design for failure."}', "push")).toBeUndefined();
  });
});

it("its scheme says that ids are not signed", () => {
  expect(verifier.scheme.covers).toEqual({ body: true, url: false, time: false, id: false });
});
