import { standardWebhooks } from "posthorn";
import { discord, github, hubspot, mailgun, sendgrid, slack, zoom } from "posthorn/providers";
import { TEST_SECRETS } from "posthorn/testing";
import type { FakeClock } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { createGate } from "../gate.js";
import { listenerOf, post, serve, setStage, until } from "./receiving-server.js";
import type { Adapter, Stage, StageOptions } from "./receiving-server.js";

// What senders see, through a real server, whichever adapter is mounted.

function sources(clock: FakeClock): NonNullable<StageOptions["sources"]> {
  return {
    acme: standardWebhooks({ secrets: TEST_SECRETS.standard_webhooks.verifying, clock }),
    discord: discord({ secrets: TEST_SECRETS.discord.verifying, clock }),
    github: github({ secrets: TEST_SECRETS.github.verifying, clock }),
    hubspot: hubspot({
      secrets: TEST_SECRETS.hubspot.verifying,
      clock,
      publicUrl: "https://example.com/webhooks/hubspot",
    }),
    mailgun: mailgun({ secrets: TEST_SECRETS.mailgun.verifying, clock }),
    sendgrid: sendgrid({ secrets: TEST_SECRETS.sendgrid.verifying, clock }),
    slack: slack({ secrets: TEST_SECRETS.slack.verifying, clock }),
    zoom: zoom({ secrets: TEST_SECRETS.zoom.verifying, clock }),
  };
}

async function open(
  adapter: Adapter,
  given: (clock: FakeClock) => StageOptions = () => ({}),
): Promise<Stage & { readonly port: number }> {
  const stage = setStage((clock) => ({ sources: sources(clock), ...given(clock) }));
  const { port } = await serve(listenerOf(adapter, stage.receiver));
  return { ...stage, port };
}

function verdictOf(reply: Response): string | null {
  return reply.headers.get("posthorn-verdict");
}

describe.each(["node", "fetch"] as const)("through the %s adapter,", (adapter) => {
  describe("an event", () => {
    it("is applied, and a second delivery of it is called a duplicate, both with the provider's success", async () => {
      const { port, signed, effects } = await open(adapter);
      const request = await signed({ id: "evt_1" });
      const replies = [await post(port, "acme", request), await post(port, "acme", request)];
      expect(replies.map(({ status }) => status)).toEqual([204, 204]);
      expect(replies.map(verdictOf)).toEqual(["applied", "duplicate"]);
      expect(effects).toEqual(["evt_1"]);
    });

    it("with a known id and another body is told to stop, in the provider's own way", async () => {
      const { port, signed, effects } = await open(adapter);
      await post(port, "acme", await signed({ id: "evt_1" }));
      const reply = await post(port, "acme", await signed({ id: "evt_1", data: { amount: 2 } }));
      expect([reply.status, verdictOf(reply)]).toEqual([200, "conflict"]);
      expect(reply.headers.get("webhook-delivery")).toBe("abort-message");
      await post(port, "mailgun", await signed({ id: "m_1" }, "mailgun"));
      expect((await post(port, "mailgun", await signed({ id: "m_1" }, "mailgun"))).status).toBe(406);
      expect(effects).toEqual(["evt_1", "m_1"]);
    });

    it("that happened before the window began is told to stop, and not applied", async () => {
      const { port, signed, effects, clock } = await open(adapter);
      const time = new Date(clock.now() - 15 * 24 * 3600 * 1000);
      const reply = await post(port, "acme", await signed({ id: "evt_1", time }));
      expect([reply.status, verdictOf(reply)]).toEqual([200, "stale"]);
      const fromSlack = await post(port, "slack", await signed({ time }, "slack"));
      expect([fromSlack.status, fromSlack.headers.get("x-slack-no-retry")]).toEqual([400, "1"]);
      expect(effects).toEqual([]);
    });

    it("that is being applied is answered 503 with the time to come again, at once", async () => {
      const gate = createGate();
      let started = false;
      const { port, signed, effects } = await open(adapter, () => ({
        handlers: {
          "*": async (event, { tx }) => {
            started = true;
            await gate.passed;
            tx.onCommit(() => effects.push(event.id));
          },
        },
      }));
      const request = await signed({ id: "evt_1" });
      const first = post(port, "acme", request);
      await until(() => started);
      const second = await post(port, "acme", request);
      expect([second.status, verdictOf(second), second.headers.get("retry-after")]).toEqual([
        503,
        "busy",
        "1",
      ]);
      gate.open();
      expect(verdictOf(await first)).toBe("applied");
      expect(effects).toEqual(["evt_1"]);
    });

    it("that nobody handles is acknowledged as skipped", async () => {
      const { port, signed } = await open(adapter, () => ({ handlers: { other: () => {} } }));
      const reply = await post(port, "acme", await signed());
      expect([reply.status, verdictOf(reply)]).toEqual([204, "skipped"]);
    });

    it("whose handler does not finish in time is answered 503", async () => {
      const { port, signed, clock } = await open(adapter, () => ({
        handlers: { "*": () => new Promise(() => {}) },
      }));
      const reply = post(port, "acme", await signed());
      await until(() => clock.sleeping > 0);
      await clock.advance(30_000);
      expect((await reply).status).toBe(503);
    });
  });

  it("Discord's webhook events are answered 204, and its interactions 202 without a body", async () => {
    const { port, signed } = await open(adapter);
    const replies: unknown[] = [];
    for (const type of ["ENTITLEMENT_CREATE", "APPLICATION_COMMAND", "MODAL_SUBMIT"]) {
      const reply = await post(port, "discord", await signed({ type }, "discord"));
      replies.push([type, reply.status, await reply.text(), verdictOf(reply)]);
    }
    expect(replies).toEqual([
      ["ENTITLEMENT_CREATE", 204, "", "applied"],
      ["APPLICATION_COMMAND", 202, "", "applied"],
      ["MODAL_SUBMIT", 202, "", "applied"],
    ]);
  });

  describe("a request", () => {
    it("may be as large as its provider's requests are, and no larger", async () => {
      const { port, signed } = await open(adapter);
      const large = { data: { text: "x".repeat(1_048_576) } };
      const replies = [
        await post(port, "github", await signed(large, "github")),
        await post(port, "acme", await signed(large)),
      ];
      expect(replies.map(({ status }) => status)).toEqual([200, 413]);
    });

    it("with a wrong signature is answered 401, without a word of why", async () => {
      const { port, signed, effects, signals } = await open(adapter);
      const request = await signed();
      const reply = await post(port, "acme", { ...request, body: request.body.with(0, 32) });
      expect([reply.status, await reply.text(), verdictOf(reply)]).toEqual([401, "", null]);
      expect(effects).toEqual([]);
      expect(signals).toContainEqual(expect.objectContaining({ kind: "signature_refused" }));
    });

    it("for a source that nobody configured is answered 404", async () => {
      const { port, signed } = await open(adapter);
      expect((await post(port, "constructor", await signed())).status).toBe(404);
    });

    it.each([
      ["gzip", "gzip"],
      ["br", "br"],
      ["gzip twice", "gzip, gzip"],
      ["a name of 9,000 letters", "x".repeat(9000)],
    ])("whose encoding is %s is answered 415, and told", async (_, encoding) => {
      const { port, signed, effects, signals } = await open(adapter);
      const reply = await post(port, "acme", await signed({ headers: { "content-encoding": encoding } }));
      expect(reply.status).toBe(415);
      expect(effects).toEqual([]);
      expect(signals).toContainEqual(expect.objectContaining({ kind: "request_refused", status: 415 }));
    });

    it.each(["HEAD", "GET", "OPTIONS", "PUT", "DELETE"])("by %s is answered 405", async (method) => {
      const { port } = await open(adapter);
      const reply = await fetch(`http://127.0.0.1:${port}/acme`, { method });
      expect([reply.status, reply.headers.get("allow"), await reply.text()]).toEqual([405, "POST", ""]);
    });
  });

  describe("a handshake", () => {
    it("of Slack's is answered with its challenge, as plain text", async () => {
      const { port, signed, effects } = await open(adapter);
      const body = JSON.stringify({
        type: "url_verification",
        challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd",
      });
      const reply = await post(port, "slack", await signed({ body }, "slack"));
      expect(await reply.text()).toBe("3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd");
      expect(reply.headers.get("content-type")).toBe("text/plain");
      expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
      expect(effects).toEqual([]);
    });

    it("of Zoom's is answered with its token and what the secret makes of it", async () => {
      const { port, signed } = await open(adapter);
      const body = JSON.stringify({
        event: "endpoint.url_validation",
        payload: { plainToken: "qgg8vlvZRS6U" },
      });
      const reply = await post(port, "zoom", await signed({ body }, "zoom"));
      expect(await reply.json()).toEqual({
        plainToken: "qgg8vlvZRS6U",
        encryptedToken: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });
    });

    it("of Discord's is answered 204, or with a pong where an interaction asks", async () => {
      const { port, signed } = await open(adapter);
      const ping = await post(port, "discord", await signed({ body: '{"version":1,"type":0}' }, "discord"));
      expect([ping.status, ping.headers.get("content-type"), await ping.text()]).toEqual([
        204,
        "application/json",
        "",
      ]);
      const asked = await post(port, "discord", await signed({ body: '{"id":"7","type":1}' }, "discord"));
      expect([asked.status, await asked.json()]).toEqual([200, { type: 1 }]);
    });

    it("of a stranger's is answered 401", async () => {
      const { port, signed } = await open(adapter);
      const body = JSON.stringify({ type: "url_verification", challenge: "abc" });
      const request = await signed({ body, secrets: "a stranger's secret" }, "slack");
      expect((await post(port, "slack", request)).status).toBe(401);
    });
  });

  describe("a batch", () => {
    it.each(["sendgrid", "hubspot"] as const)(
      "of %s with one failing event is answered 500, and what was finished is a duplicate next time",
      async (provider) => {
        const runs: string[] = [];
        let broken = true;
        const stage = await open(adapter, () => ({
          handlers: {
            "*": (event, { tx }) => {
              runs.push(event.type);
              if (event.type === "second" && broken) throw new Error("the ledger is closed");
              tx.onCommit(() => stage.effects.push(event.type));
            },
          },
        }));
        const events = [{ type: "first" }, { type: "second" }, { type: "third" }];
        const request = await stage.signed({ events }, provider);
        const first = await post(stage.port, provider, request);
        expect([first.status, verdictOf(first)]).toEqual([500, "failed"]);
        expect(stage.effects).toEqual(["first", "third"]);
        broken = false;
        const second = await post(stage.port, provider, request);
        expect([second.status, verdictOf(second)]).toEqual([200, "duplicate"]);
        expect(stage.effects).toEqual(["first", "third", "second"]);
        expect(runs).toEqual(["first", "second", "third", "second"]);
      },
    );

    it("without events is a success of which nothing was applied", async () => {
      const { port, signed, effects } = await open(adapter);
      const reply = await post(port, "sendgrid", await signed({ body: "[]" }, "sendgrid"));
      expect([reply.status, verdictOf(reply)]).toEqual([200, "skipped"]);
      expect(effects).toEqual([]);
    });
  });
});
