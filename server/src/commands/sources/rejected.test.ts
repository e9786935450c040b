import { expect, it } from "vitest";
import { fakeClient, page, problem } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { REJECTED } from "../../../../test/cli/samples.js";

it("rejected requests of a source are taken in again, oldest first; one that is refused does not stop the others", async () => {
  const client = fakeClient({
    "rejected.list": () => page(["rej_3", "rej_2", "rej_1"].map((id) => Object.assign({}, REJECTED, { id }))),
    "rejected.retry": (id: string) => {
      if (id === "rej_2") throw problem(409, "conflict", "It is refused again.");
      return { events: [{ id: `evt_of_${id}`, verdict: "stored" }] };
    },
  });
  const { out, err, code } = await runCommand(["rejected", "retry", "--source", "stripe"], {
    client,
    columns: 200,
  });
  expect(out.trim().split("\n")).toEqual([
    "rej_1: stored as evt_of_rej_1",
    "rej_2: It is refused again.",
    "rej_3: stored as evt_of_rej_3",
  ]);
  expect([code, err]).toEqual([1, expect.stringContaining("1 of 3 could not be taken in.")]);
});

it.each([[[]], [["rej_1", "--source", "stripe"]]])("rejected retry %j is refused", async (args) => {
  expect((await runCommand(["rejected", "retry", ...args])).code).toBe(2);
});

it("a rejected request says how it is taken in again, or that it cannot be", async () => {
  expect((await runCommand(["rejected", "show", "rej_1"], { columns: 200 })).out).toContain(
    "posthorn rejected retry",
  );
  const client = fakeClient({ "rejected.get": () => ({ ...REJECTED, retryable: false }) });
  expect((await runCommand(["rejected", "show", "rej_1"], { client, columns: 200 })).out).toContain(
    "cannot be taken in again",
  );
});
