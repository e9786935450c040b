import type { JsonPointer } from "./json-pointer.js";

/** Pointers as a tree, so that a walk through a value knows at each step which of them lead on from there. */
export interface PointerTree {
  /** A pointer ends here. */
  ends: boolean;
  readonly steps: Map<string, PointerTree>;
}

/** The tree of these pointers; undefined where there are none. One below another adds nothing to it. */
export function pointerTree(pointers: readonly JsonPointer[]): PointerTree | undefined {
  if (pointers.length === 0) return undefined;
  const root: PointerTree = { ends: false, steps: new Map() };
  for (const pointer of pointers) {
    let at = root;
    for (const step of pointer) {
      const next = at.steps.get(step) ?? { ends: false, steps: new Map<string, PointerTree>() };
      at.steps.set(step, next);
      at = next;
    }
    at.ends = true;
  }
  cutBelowEnds(root);
  return root;
}

/** How many pointers end in it. */
export function countEnds(tree: PointerTree): number {
  let ends = tree.ends ? 1 : 0;
  for (const next of tree.steps.values()) ends += countEnds(next);
  return ends;
}

function cutBelowEnds(tree: PointerTree): void {
  if (tree.ends) tree.steps.clear();
  else for (const next of tree.steps.values()) cutBelowEnds(next);
}
