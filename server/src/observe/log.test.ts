import { expect, it } from "vitest";
import { createLog } from "./log.js";
import type { LogOutput } from "./log.js";
import { signalLog } from "./signal-log.js";

function listed(isTty = false): { lines: string[]; output: LogOutput } {
  const lines: string[] = [];
  return { lines, output: { write: (text) => void lines.push(text), isTty, colour: false } };
}

const ATTEMPT = {
  kind: "delivery_attempted",
  tenant: "default",
  delivery: "dlv_1_1",
  endpoint: "ep_1",
  type: "order.paid",
  id: "evt_1",
  attempt: 2,
  outcome: "refused",
  status: 500,
  error: undefined,
  durationMs: 12,
} as const;

it("an attempt is one line of JSON with everything that is known of it", () => {
  const { lines, output } = listed();
  signalLog(createLog({ logLevel: "info", logFormat: "json" }, output, "node-1"))(ATTEMPT);
  expect(lines).toHaveLength(1);
  const { time, ...line } = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  expect(time).toMatch(/^\d{4}-.*Z$/);
  expect(line).toEqual({
    level: "warn",
    node: "node-1",
    tenant: "default",
    endpoint: "ep_1",
    delivery: "dlv_1_1",
    type: "order.paid",
    id: "evt_1",
    attempt: 2,
    outcome: "refused",
    status: 500,
    durationMs: 12,
    msg: "attempt",
  });
});

it("on a terminal it is a line for people, on which hostile text cannot act", () => {
  const { lines, output } = listed(true);
  const log = createLog({ logLevel: "info", logFormat: "auto" }, output);
  log.info({ type: "a\u001b[2J\nb", count: 3 }, "event");
  expect(lines.join("")).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}event type="a\\u001b\[2J\\nb" count=3\n$/);
});

it("secrets are in no line, whichever way they come in", () => {
  const { lines, output } = listed();
  const log = createLog({ logLevel: "info", logFormat: "json" }, output);
  const token = "phk_CANARYCANARYCANARY";
  log.info(
    { headers: { authorization: `Bearer ${token}` }, secret: "CANARY", body: "CANARY" },
    `given ${token}`,
  );
  log.error({ err: new Error(`connect postgres://ph:CANARY@db/x`, { cause: new Error(token) }) }, "failed");
  log.error({ err: Object.assign(new Error("duplicate key"), { detail: "Key (body)=(CANARY)" }) }, "failed");
  expect(lines).toHaveLength(3);
  expect(lines.join("")).not.toContain("CANARY");
});

it("nothing below the level is written", () => {
  const { lines, output } = listed();
  const log = createLog({ logLevel: "error", logFormat: "json" }, output);
  log.info("a");
  log.warn("b");
  expect(lines).toEqual([]);
});
