import { describe, expect, it } from "vitest";
import { fakeTerminal } from "../../../../test/cli/fake-terminal.js";
import { ENDPOINT, LANES } from "../../../../test/cli/samples.js";
import { displayWidth } from "../../terminal/width.js";
import { drawBoard, Screen } from "./board.js";
import type { Moment } from "./board.js";
import { TOWN } from "./character.js";

const [character = { name: "", says: "", behave: () => "silence" as const }] = TOWN;
const report = { requests: 9, failed: 1, taken: 8, repeated: 0, outOfOrder: 0 };

const MOMENT: Moment = {
  published: 296,
  passedMs: 18_000,
  url: "http://127.0.0.1:8710",
  houses: [
    { house: { character, url: "http://127.0.0.1:1/bakery", report: () => report }, endpoint: ENDPOINT },
  ],
  lanes: LANES,
};

describe("the board", () => {
  it("shows each endpoint with what waits for it, and blocked lanes first", () => {
    const lines = drawBoard(MOMENT, { width: 100, colour: false }, 40);
    expect(lines[0]).toContain("296 events in 18 s");
    expect(lines.join("\n")).toMatch(/bakery\s+healthy\s+active\s+8\s+1\s+0\s+43\s+kept/);
    expect(lines.join("\n")).toContain("2 lanes in which something waits, 1 of them blocked");
    expect(lines.findIndex((line) => line.includes("halted"))).toBeLessThan(
      lines.findIndex((line) => line.includes("flowing")),
    );
  });

  it("fits the terminal", () => {
    const lines = drawBoard(MOMENT, { width: 90, colour: false }, 6);
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(90);
  });

  it("says when an order was broken", () => {
    const broken = { ...report, outOfOrder: 2 };
    const houses = [{ house: { character, url: "", report: () => broken }, endpoint: undefined }];
    expect(drawBoard({ ...MOMENT, houses }, { width: 100, colour: false }, 40).join("\n")).toContain(
      "broken 2 times",
    );
  });
});

it("the screen is given back as it was, once", () => {
  const terminal = fakeTerminal({ columns: 80 });
  const screen = new Screen(terminal);
  screen.close();
  expect(terminal.out()).toBe("");
  screen.show(["one"]);
  screen.show(["two"]);
  screen.close();
  screen.close();
  const out = terminal.out();
  expect(out.split("\u001b[?1049h")).toHaveLength(2);
  expect(out.endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
  expect(out.split("\u001b[?1049l")).toHaveLength(2);
});
