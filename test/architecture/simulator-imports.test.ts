import { describe, expect, it } from "vitest";
import { checkSimulatorImports } from "./simulator-imports.js";
import { parseSources } from "./source.js";

function problemsOf(path: string, text: string): string[] {
  return checkSimulatorImports(parseSources([[`simulator/${path}`, text]]));
}

describe("a file of the simulator", () => {
  it("may import its own files and the library's source", () => {
    const text = `
      import "./scheduler.js";
      import "../model/store.js";
      import { createSender } from "../../library/src/outbox/sender.js";
      import type { Claim } from "../../library/src/lanes/lane-store.js";`;
    expect(problemsOf("world/node.ts", text)).toEqual([]);
  });

  it.each([
    ["../../library/src/stores/memory/store.js", "its model"],
    ["../../test/simulator/campaign.js", "may import library/src/ and itself"],
    ["../../server/src/compose.js", "may import library/src/ and itself"],
    ["posthorn/memory", "library/src alone"],
    ["node:fs", "library/src alone"],
    ["undici", "library/src alone"],
  ])("may not import %s", (specifier, problem) => {
    expect(problemsOf("world/node.ts", `import "${specifier}";`)).toEqual([expect.stringContaining(problem)]);
  });
});

describe("a law of the simulator", () => {
  it("may know the types of the lane rule, and how many lapses lead to a claim alone", () => {
    const text = `
      import { LAPSES_BEFORE_ALONE } from "../../library/src/lanes/lane.js";
      import type { Lane } from "../../library/src/lanes/lane.js";`;
    expect(problemsOf("laws/lane-law.ts", text)).toEqual([]);
  });

  it.each([
    ['import { settled } from "../../library/src/lanes/lane.js";', "settled"],
    ['import { LANE_RULE } from "../../library/src/lanes/lane-rule.js";', "LANE_RULE"],
    ['import * as rule from "../../library/src/lanes/lane.js";', "*"],
    ['import { transition } from "../../library/src/delivery/transition.js";', "transition"],
    ['import { headOf } from "../model/lanes.js";', "simulator/model/lanes.ts"],
  ])("may not ask what it judges: %s", (text, name) => {
    expect(problemsOf("laws/lane-law.ts", text)).toEqual([expect.stringContaining(`imports ${name};`)]);
  });
});
