import { expect, it } from "vitest";
import { fakeClient } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { ENDPOINT } from "../../../../test/cli/samples.js";

it.each([
  [
    ["--endpoint", "ep_shop"],
    ["endpoints.retry", "ep_shop"],
  ],
  [["12"], ["lanes.retry", "12"]],
  [["dlv_12_7"], ["deliveries.retry", "dlv_12_7"]],
] as const)("retry %s asks for that", async (args, call) => {
  const { client, out } = await runCommand(["retry", ...args]);
  expect(client.calls).toEqual([call]);
  expect(out).toContain("Due now: 1 delivery.");
});

it("a retry that changed nothing says what else it may be", async () => {
  const client = fakeClient({ "endpoints.retry": () => ({ retried: 0 }) });
  const { out } = await runCommand(["retry", "--endpoint", "ep_shop"], { client, columns: 200 });
  expect(out).toContain("Nothing had to wait");
  expect(out).toContain("posthorn dead list");
});

it("a retry at an endpoint that is stopped says so, and how it goes on", async () => {
  const client = fakeClient({
    "endpoints.retry": () => ({ retried: 0 }),
    "endpoints.get": () => ({ ...ENDPOINT, state: "disabled" }),
  });
  const { out } = await runCommand(["retry", "--endpoint", "ep_shop"], { client, columns: 200 });
  expect(out).toBe("Nothing is tried: ep_shop is disabled. Go on with: posthorn endpoint resume ep_shop\n");
});

it.each([
  [[], "one of them"],
  [["12", "--endpoint", "ep_shop"], "one of them"],
  [["ep_shop"], "posthorn retry --endpoint ep_shop"],
  [["order-7"], "neither a lane (a number) nor a delivery"],
])("retry %s is refused, and says what to write", async (args, says) => {
  const { code, err } = await runCommand(["retry", ...args], { columns: 200 });
  expect([code, err]).toEqual([2, expect.stringContaining(says)]);
});
