import { describe, expect, it } from "vitest";
import { drawFacts, drawTable } from "./table.js";
import type { Table } from "./table.js";
import { displayWidth } from "./width.js";

const WIDE = { width: undefined, colour: false };

const TABLE: Table = {
  columns: [
    { title: "ID" },
    { title: "TYPE", least: 6 },
    { title: "SIZE", align: "right" },
    { title: "WHEN", least: 4 },
  ],
  rows: [
    ["evt_1", "invoice.paid", "1.4 KiB", "2 min ago"],
    ["evt_22", "東京.支払い", "812 B", "just now"],
  ],
};

describe("a table", () => {
  it("has its columns below each other, whatever the script", () => {
    expect(drawTable(TABLE, WIDE)).toBe(
      [
        "ID      TYPE             SIZE  WHEN",
        "evt_1   invoice.paid  1.4 KiB  2 min ago",
        "evt_22  東京.支払い     812 B  just now",
        "",
      ].join("\n"),
    );
  });

  it("is cut to the terminal where it may be, and never in its ids", () => {
    for (let width = 29; width < 50; width++) {
      const lines = drawTable(TABLE, { width, colour: false }).trimEnd().split("\n");
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      expect(lines[2]).toMatch(/^evt_22 /);
    }
    expect(drawTable(TABLE, { width: 34, colour: false })).toContain("invoic… ");
  });

  it("that would not fit even so has one field per line", () => {
    expect(drawTable(TABLE, { width: 20, colour: false })).toBe(
      [
        "ID    evt_1",
        "TYPE  invoice.paid",
        "SIZE  1.4 KiB",
        "WHEN  2 min ago",
        "",
        "ID    evt_22",
        "TYPE  東京.支払い",
        "SIZE  812 B",
        "WHEN  just now",
        "",
      ].join("\n"),
    );
  });

  it("neutralises what stands in it before it counts columns", () => {
    const drawn = drawTable(
      {
        columns: [{ title: "KEY" }, { title: "N" }],
        rows: [
          ["a\u001b[2J\nb", 1],
          ["\u202e", 2],
        ],
      },
      WIDE,
    );
    expect(drawn).toBe(["KEY          N", "a\\x1b[2J\\nb  1", "\\u202e       2", ""].join("\n"));
  });

  it("is coloured without being moved", () => {
    const piece = { text: "dead", tone: "bad" } as const;
    const drawn = drawTable(
      { columns: [{ title: "STATE" }, { title: "N" }], rows: [[piece, 1]] },
      { width: undefined, colour: true },
    );
    expect(drawn).toContain("\u001b[31mdead\u001b[39m   1");
  });
});

it("facts stand below each other, names from outside neutralised", () => {
  expect(
    drawFacts(
      [
        ["event", "evt_1"],
        ["x-\u001b", "a\nb"],
      ],
      WIDE,
    ),
  ).toBe("event   evt_1\nx-\\x1b  a\\nb\n");
});
