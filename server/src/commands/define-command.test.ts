import { expect, it } from "vitest";
import { runCommand } from "../../../test/cli/run-command.js";

const GROUPS = ["source", "endpoint", "events", "lanes", "dead", "rejected", "token"];

it.each(GROUPS)("`posthorn %s` lists, with the flags of its list", async (group) => {
  const { code, out } = await runCommand([group, "--json", "--limit", "2"]);
  expect(code).toBe(0);
  expect(out).toBe((await runCommand([group, "list", "--json", "--limit", "2"])).out);
});

it("a command that a group does not have is told, with the one that was meant", async () => {
  const wrong = await runCommand(["events", "shwo", "evt_1"]);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('There is no command "posthorn events shwo".');
  expect(wrong.err).toContain("Did you mean posthorn events show?");
  const { err } = await runCommand(["events", "evt_1"]);
  expect(err).toContain("There are list, show, body.");
});

it("a list that needs to be told of what is not guessed", async () => {
  expect((await runCommand(["deliveries"])).code).toBe(2);
});
