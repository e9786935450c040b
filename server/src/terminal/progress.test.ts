import { describe, expect, it } from "vitest";
import { fakeTerminal } from "../../../test/cli/fake-terminal.js";
import { createProgress } from "./progress.js";

describe("progress", () => {
  it("on a terminal is one line on the standard error, and goes away at the end", () => {
    let now = 0;
    const terminal = fakeTerminal({ columns: 60 });
    const progress = createProgress(terminal, {
      label: "Redriving",
      total: 4,
      unit: "deliveries",
      now: () => now,
    });
    for (let done = 0; done < 4; done++) {
      now += 1500;
      progress.advance();
    }
    progress.end();
    const draws = terminal.err().split("\r\u001b[2K");
    expect(draws.at(-2)).toBe(`Redriving ${"█".repeat(24)} 4/4`);
    expect(draws.some((draw) => draw.endsWith("2/4, 3 s left"))).toBe(true);
    expect(draws.at(-1)).toBe("");
    expect(terminal.err()).not.toContain("\n");
    expect(terminal.out()).toBe("");
  });

  it("is redrawn no oftener than an eye sees", () => {
    const terminal = fakeTerminal({ columns: 60 });
    const progress = createProgress(terminal, { label: "x", total: 1e6, unit: "things", now: () => 0 });
    for (let done = 0; done < 10_000; done++) progress.advance();
    expect(terminal.err().split("\r")).toHaveLength(2);
  });

  it("without a terminal is a line every few seconds", () => {
    let now = 0;
    const terminal = fakeTerminal();
    const progress = createProgress(terminal, {
      label: "Redriving",
      total: 20,
      unit: "deliveries",
      now: () => now,
    });
    for (let done = 0; done < 12; done++) {
      now += 1000;
      progress.advance();
    }
    progress.end();
    expect(terminal.err()).toBe("Redriving: 5 of 20 deliveries\nRedriving: 10 of 20 deliveries\n");
  });
});
