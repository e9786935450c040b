import { PosthornError } from "posthorn";
import { describe, expect, it } from "vitest";
import { fakeTerminal } from "../../../test/cli/fake-terminal.js";
import { confirm } from "./confirm.js";
import { CommandFailure } from "./failure.js";
import { createPrinter } from "./printer.js";
import type { Printer } from "./printer.js";

function printing(
  json: boolean,
  colour = false,
): { print: Printer; terminal: ReturnType<typeof fakeTerminal> } {
  const terminal = fakeTerminal({ columns: 80, colour });
  return { terminal, print: createPrinter({ terminal, json, now: () => 0 }) };
}

describe("what is printed", () => {
  it("with --json is one document, and hints stay away", () => {
    const { print, terminal } = printing(true);
    print.show({ a: ["\u009b"] }, () => print.line("never"));
    print.hint("never");
    expect(JSON.parse(terminal.out())).toEqual({ a: ["\u009b"] });
    expect(terminal.out()).toContain("\\u009b");
    expect(terminal.err()).toBe("");
  });

  it("is neutralised on every way out", () => {
    const { print, terminal } = printing(false);
    const hostile = "\u001b[2J\u202e";
    print.line(hostile, { text: hostile, tone: "bad" });
    print.facts([["name", hostile]]);
    print.table({ columns: [{ title: "A" }], rows: [[hostile]] });
    print.block(`${hostile}\n${hostile}`);
    print.hint(hostile);
    print.warn(hostile);
    print.fail(new CommandFailure("failed", hostile, { cure: hostile }));
    print.fail(new Error(hostile), { debug: true });
    const all = terminal.out() + terminal.err();
    expect(all).not.toContain("\u001b");
    expect(all).not.toContain("\u202e");
  });

  it("has colour as a tone, never from the text", () => {
    const { print, terminal } = printing(false, true);
    print.line({ text: "dead", tone: "bad" });
    expect(terminal.out()).toBe("\u001b[31mdead\u001b[39m\n");
  });
});

const START = "Start a server with `posthorn serve`, or name its address with --url or POSTHORN_URL.";

describe("a failure", () => {
  it("is told as what was found and what to do", () => {
    const { print, terminal } = printing(false);
    const told = print.fail(new CommandFailure("usage", "It is wrong.", { cure: "Make it right." }));
    expect(terminal.err()).toBe("Error: It is wrong.\nMake it right.\n");
    expect(told.exit).toBe("usage");
  });

  it("with --json is a document on the standard error", () => {
    const { print, terminal } = printing(true);
    print.fail(new CommandFailure("failed", "It is wrong.", { code: "wrong" }));
    expect(JSON.parse(terminal.err())).toEqual({
      error: { code: "wrong", message: "It is wrong.", cure: null },
    });
    expect(terminal.out()).toBe("");
  });

  it.each([
    ["api_unreachable", "unreachable", START],
    ["api_unavailable", "unreachable", START],
    [
      "api_unauthorised",
      "refused",
      "Give a token that may do this with --token or POSTHORN_TOKEN; `posthorn token create` makes one, with --offline where none is left.",
    ],
    ["api_not_found", "failed", undefined],
    ["api_option_invalid", "usage", undefined],
  ])("of the client with %s ends as %s", (code, exit, cure) => {
    const { print } = printing(false);
    const told = print.fail(new PosthornError(code, "The server at http://127.0.0.1:1 …"));
    expect(told.exit).toBe(exit);
    expect(told.cure).toBe(cure);
  });

  it("that nobody foresaw is told without its stack, unless asked", () => {
    const { print, terminal } = printing(false);
    print.fail(new TypeError("x is not a function"));
    expect(terminal.err()).not.toContain("at ");
    print.fail(new TypeError("x is not a function"), { debug: true });
    expect(terminal.err()).toContain("printer.test");
  });
});

describe("a question", () => {
  it("goes ahead on yes alone", async () => {
    const terminal = fakeTerminal({ columns: 80, answers: ["y", "YES", "n", "", "yep"] });
    await confirm(terminal, "Go?", { yes: false });
    await confirm(terminal, "Go?", { yes: false });
    for (let answer = 0; answer < 3; answer++) {
      await expect(confirm(terminal, "Go?", { yes: false })).rejects.toMatchObject({ exit: "failed" });
    }
  });

  it("is not asked with --yes", async () => {
    const terminal = fakeTerminal({ columns: 80 });
    await confirm(terminal, "Go?", { yes: true });
    expect(terminal.questions).toEqual([]);
  });

  it("that nobody can answer is refused, and says how", async () => {
    await expect(confirm(fakeTerminal(), "Go?", { yes: false })).rejects.toMatchObject({
      exit: "usage",
      code: "confirmation_needed",
      cure: "Say --yes to go ahead.",
    });
  });

  it("is neutralised", async () => {
    const terminal = fakeTerminal({ columns: 80, answers: ["y"] });
    await confirm(terminal, "Remove \u001b[2J?", { yes: false });
    expect(terminal.questions).toEqual(["Remove \\x1b[2J? [y/N] "]);
  });
});
