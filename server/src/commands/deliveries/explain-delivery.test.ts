import type { Delivery } from "posthorn/client";
import { DEAD_REASONS } from "posthorn/operator";
import { describe, expect, it } from "vitest";
import { DELIVERY } from "../../../../test/cli/samples.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { fakeClient } from "../../../../test/cli/fake-client.js";
import { explainDelivery } from "./explain-delivery.js";

function explained(of: Partial<Delivery>): string {
  const { says, todo } = explainDelivery({ ...DELIVERY, ...of });
  return `${says} ${todo ?? ""}`;
}

describe("a delivery is explained", () => {
  it.each([
    ["delivered", { state: "delivered", lastStatus: 204 }, /acknowledged it with 204/],
    ["under way", { state: "under_way" }, /right now/],
    ["waiting behind others", { state: "waiting", dueInMs: null }, /before it.*posthorn lanes show 12/],
    ["waiting without a lane", { state: "waiting", dueInMs: null, laneId: null }, /not been tried/],
    ["due", { state: "waiting", dueInMs: 1500 }, /due in 1\.5 s/],
    ["retrying", { state: "retrying" }, /2 attempts failed.*503.*again in 3 min 12 s/],
    ["cancelled", { state: "cancelled", because: "expired" }, /cancelled: expired/],
    [
      "dead by the secret",
      { state: "dead", because: "exhausted", lastStatus: 401 },
      /secret.*posthorn redrive dlv_12_7/,
    ],
    [
      "dead without an answer",
      { state: "dead", because: "exhausted", lastStatus: null, lastError: "timeout" },
      /may have landed/,
    ],
    [
      "dead by its address",
      { state: "dead", because: "forbidden", lastStatus: null, lastError: "private_address" },
      /--allow-addresses/,
    ],
    [
      "dead without an attempt",
      { state: "dead", because: "unsendable", attempts: 0, lastStatus: null },
      /cannot be signed/,
    ],
    [
      "dead by a reason of tomorrow",
      { state: "dead", because: "boredom", attempts: 0, lastStatus: null },
      /boredom/,
    ],
    ["disabled by 410", { state: "retrying", lastStatus: 410 }, /posthorn endpoint resume ep_shop/],
    ["redirected", { state: "retrying", lastStatus: 302 }, /redirect, which is never followed/],
  ] as const)("%s", (_, of, says) => {
    expect(explained(of)).toMatch(says);
  });

  it("with every reason that the library knows, in its words", () => {
    for (const [because, words] of Object.entries(DEAD_REASONS)) {
      expect(explained({ state: "dead", because })).toContain(words);
    }
  });

  it("whatever the status or error is", () => {
    for (let status = 100; status < 600; status++) {
      expect(explained({ state: "retrying", lastStatus: status })).toContain(String(status));
    }
    expect(explained({ state: "retrying", lastStatus: null, lastError: "odd" })).toContain("odd");
    expect(explained({ state: "retrying", lastStatus: null, lastError: null })).toContain(
      "no answer is known",
    );
  });
});

describe("deliveries show", () => {
  it("has attempts, their meaning and what to do", async () => {
    const { out } = await runCommand(["deliveries", "show", "dlv_12_7"], { columns: 100 });
    expect(out).toContain("which says that it is not available for now");
    expect(out).toContain("Down for maintenance");
    expect(out).toMatch(/1\s+2\s+refused\s+503/);
  });

  it("shows the endpoint's answer as escapes, and not all of it", async () => {
    const hostile = `\u001b[2J${"x".repeat(5000)}`;
    const client = fakeClient({
      "deliveries.attempts": () => ({
        items: [
          {
            round: 0,
            number: 1,
            startedAt: "2027-01-31T11:00:00Z",
            durationMs: 1,
            outcome: "refused",
            status: 500,
            error: null,
            answer: Buffer.from(hostile).toString("base64"),
          },
        ],
        next: null,
      }),
    });
    const { out } = await runCommand(["deliveries", "show", "dlv_12_7"], { client });
    expect(out).toContain("\\x1b[2Jxxx");
    expect(out.match(/x{2,}/g)?.map(({ length }) => length)).toEqual([996]);
  });

  it("for scripts has the explanation too", async () => {
    const { out } = await runCommand(["deliveries", "show", "dlv_12_7", "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      id: "dlv_12_7",
      explanation: { says: expect.stringContaining("503") as string },
    });
  });

  it("list without an event is a wrong use", async () => {
    expect(await runCommand(["deliveries", "list"])).toMatchObject({ code: 2 });
  });
});
