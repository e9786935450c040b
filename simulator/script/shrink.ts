import type { Script, Step } from "./script.js";
import { simulate } from "../simulate.js";
import type { SimulateOptions } from "../simulate.js";
import { shrunkBy } from "./shrinking.js";
import type { Shrunk } from "./shrinking.js";

/** Takes away from a failing script what it can do without: steps, events, nodes, endpoints and skews. */
export function shrink(script: Script, options: SimulateOptions = {}): Promise<Shrunk<Script> | undefined> {
  return shrunkBy(script, {
    judge: async (each) => (await simulate(each, options)).violations,
    reductions: [withFewerEvents, withFewerNodes, withOneEndpoint, withRightClocks],
  });
}

function withFewerEvents(script: Script): readonly Script[] {
  return script.steps.flatMap((step, index) =>
    step.kind === "publish" && step.events.length > 1
      ? step.events.map(({ number }) => ({ ...script, steps: without(script.steps, index, number) }))
      : [],
  );
}

function without(steps: readonly Step[], index: number, number: number): readonly Step[] {
  return steps.map((step, at) =>
    at === index && step.kind === "publish"
      ? { ...step, events: step.events.filter((event) => event.number !== number) }
      : step,
  );
}

function withFewerNodes(script: Script): readonly Script[] {
  return script.nodes.flatMap((_, index) => {
    const nodes = script.nodes.toSpliced(index, 1);
    if (![0, 1].every((database) => nodes.some((node) => node.database === database))) return [];
    return [{ ...script, nodes, steps: withoutNode(script.steps, index) }];
  });
}

/** The steps without those of a node; those behind it move up. */
export function withoutNode<Each extends object>(steps: readonly Each[], index: number): readonly Each[] {
  return steps
    .filter((step) => nodeOf(step) !== index)
    .map((step) => (nodeOf(step) > index ? Object.assign({}, step, { node: nodeOf(step) - 1 }) : step));
}

function nodeOf(step: object): number {
  return "node" in step ? Number(step.node) : -1;
}

function withOneEndpoint(script: Script): readonly Script[] {
  return script.endpoints.length > 1 ? [{ ...script, endpoints: script.endpoints.slice(0, 1) }] : [];
}

function withRightClocks(script: Script): readonly Script[] {
  return [{ ...script, nodes: script.nodes.map((node) => ({ ...node, skewMs: 0, rate: 1 })) }];
}
