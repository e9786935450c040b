import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { FAULT_POINTS } from "../../library/src/fault-point.js";
import { ABSENT } from "./fault-table.js";

const library = fileURLToPath(new URL("../../library/src/", import.meta.url));

/** The points that the source of a folder comes to. */
function pointsIn(folder: string): Set<string> {
  const files = readdirSync(join(library, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join(library, folder, path), "utf8"));
  const calls = files.flatMap((text) => text.match(/\breach\([^)]*\)/g) ?? []);
  return new Set(calls.flatMap((call) => [...call.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "")));
}

const shared = [...pointsIn("frameworks"), ...pointsIn("delivery")];

describe.each(["sqlite", "postgres"] as const)("the fault points of %s", (name) => {
  const present = new Set([...shared, ...pointsIn(`stores/${name}`)]);

  it("are in its source, or absent for a reason", () => {
    expect(FAULT_POINTS.filter((point) => !present.has(point))).toEqual(
      FAULT_POINTS.filter((point) => ABSENT[name][point] !== undefined),
    );
  });

  it("are all in the list, where the crash tests find them", () => {
    expect([...present].filter((point) => !(FAULT_POINTS as readonly string[]).includes(point))).toEqual([]);
  });
});

it("no fault point is absent everywhere", () => {
  expect(FAULT_POINTS.filter((point) => ABSENT.sqlite[point] && ABSENT.postgres[point])).toEqual([]);
});
