import { withoutNode } from "../script/shrink.js";
import { shrunkBy } from "../script/shrinking.js";
import type { Shrunk } from "../script/shrinking.js";
import { simulateStored } from "../simulate-stored.js";
import type { SimulateStoredOptions } from "../simulate-stored.js";
import type { StoredScript, StoredStep } from "./script.js";

/** Takes away from a failing script what it can do without: steps, nodes, trips, troubles and skews. */
export function shrinkStored(
  script: StoredScript,
  options: SimulateStoredOptions,
): Promise<Shrunk<StoredScript> | undefined> {
  return shrunkBy(script, {
    judge: async (each) => (await simulateStored(each, options)).violations,
    reductions: [withFewerNodes, withOneConsumer, withoutHold, withPlainSends, withRightClocks],
  });
}

function withFewerNodes(script: StoredScript): readonly StoredScript[] {
  // The first has the new version of the host: without it, what only that version handles would wait for ever.
  return script.nodes.flatMap((_, index) =>
    index === 0
      ? []
      : [{ ...script, nodes: script.nodes.toSpliced(index, 1), steps: withoutNode(script.steps, index) }],
  );
}

function withOneConsumer(script: StoredScript): readonly StoredScript[] {
  if (script.consumers.length === 1) return [];
  return script.consumers.map((consumer) => ({ ...script, consumers: [consumer] }));
}

function withoutHold(script: StoredScript): readonly StoredScript[] {
  return script.hold === undefined ? [] : [{ ...script, hold: undefined }];
}

/** One send at a time: without what happens to its requests, and without its trouble. */
function withPlainSends(script: StoredScript): readonly StoredScript[] {
  return script.steps.flatMap((step, index) => {
    if (step.kind !== "send") return [];
    const { trouble: _, ...event } = step.event;
    const plain = { ...step, trips: [] };
    const changed = (each: StoredStep): StoredScript => ({
      ...script,
      steps: script.steps.with(index, each),
    });
    return [changed(plain), changed({ ...plain, event })];
  });
}

function withRightClocks(script: StoredScript): readonly StoredScript[] {
  return [{ ...script, nodes: script.nodes.map((node) => ({ ...node, skewMs: 0, rate: 1 })) }];
}
