import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { FAULT_POINTS } from "../../library/src/fault-point.js";
import { ABSENT, WITHIN } from "./fault-table.js";

const library = fileURLToPath(new URL("../../library/src/", import.meta.url));

/** The points that the source of a folder comes to. */
function pointsIn(folder: string): Set<string> {
  const files = readdirSync(join(library, folder), { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
  );
  return new Set(files.flatMap((path) => pointsOfFile(join(folder, path))));
}

function pointsOfFile(path: string): readonly string[] {
  const calls = readFileSync(join(library, path), "utf8").match(/\breach\([^)]*\)/g) ?? [];
  return calls.flatMap((call) => [...call.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? ""));
}

const shared = [...pointsIn("frameworks"), ...pointsIn("delivery")];

describe.each(["sqlite", "postgres"] as const)("the fault points of %s", (name) => {
  const present = new Set([...shared, ...pointsIn(`stores/${name}`)]);

  it("are in its source, or absent for a reason", () => {
    expect(FAULT_POINTS.filter((point) => !present.has(point))).toEqual(
      FAULT_POINTS.filter((point) => ABSENT[name][point] !== undefined),
    );
  });

  it("are around the verbs that have none of their own", () => {
    const withPoints = Object.keys(WITHIN).filter(
      (file) => pointsOfFile(`stores/${name}/${file}`).length > 0,
    );
    expect(withPoints).toEqual([]);
    const around = Object.values(WITHIN).flatMap((text) => text.match(/(?<=`)\w+\.\w+(?=`)/g) ?? []);
    expect(around.filter((point) => !present.has(point))).toEqual([]);
  });

  it("are all in the list, where the crash tests find them", () => {
    expect([...present].filter((point) => !(FAULT_POINTS as readonly string[]).includes(point))).toEqual([]);
  });
});

it("no fault point is absent everywhere", () => {
  expect(FAULT_POINTS.filter((point) => ABSENT.sqlite[point] && ABSENT.postgres[point])).toEqual([]);
});
