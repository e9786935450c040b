import { asObject, elements, field, members } from "./json.js";

/** A place in a JSON value, by RFC 6901: `/data/object/id`, `/items/0`. */
export type JsonPointer = readonly string[];

/** Reads a pointer; undefined when the value is not one. The empty pointer, which means the whole value, is refused. */
export function parseJsonPointer(text: unknown): JsonPointer | undefined {
  if (typeof text !== "string" || !text.startsWith("/") || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a place; undefined when nothing was sent there. Never reaches a prototype. */
export function atPointer(json: unknown, pointer: JsonPointer): unknown {
  let value = json;
  for (const step of pointer) value = child(value, step);
  return value;
}

function child(value: unknown, step: string): unknown {
  if (!Array.isArray(value)) return field(asObject(value), step);
  return isIndex(step) ? (value as readonly unknown[])[Number(step)] : undefined;
}

/** The exact digits of a whole number at a place of a JSON text; undefined where something else stands there. */
export function wholeAt(body: Uint8Array, pointer: JsonPointer): string | undefined {
  let at: Uint8Array | undefined = body;
  for (const step of pointer) at = at && bytesOf(at, step);
  const text = at && new TextDecoder().decode(at);
  return text !== undefined && /^-?\d+$/.test(text) ? text : undefined;
}

/** The bytes of a member or an element; of several equal names the last wins, as it does for `JSON.parse`. */
function bytesOf(json: Uint8Array, step: string): Uint8Array | undefined {
  const list = elements(json);
  if (list === undefined) return members(json)?.findLast(({ name }) => name === step)?.value;
  return isIndex(step) ? list[Number(step)] : undefined;
}

function isIndex(step: string): boolean {
  return /^(0|[1-9]\d{0,8})$/.test(step);
}

/** Pointers as a tree, so that a walk through a value knows at each step which of them lead on from there. */
export interface PointerTree {
  /** A pointer ends here. */
  ends: boolean;
  readonly steps: Map<string, PointerTree>;
}

/** The tree of these pointers; undefined where there are none. A pointer below another one adds nothing to it. */
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

/** How many pointers end in a tree. */
export function countEnds(tree: PointerTree): number {
  let ends = tree.ends ? 1 : 0;
  for (const next of tree.steps.values()) ends += countEnds(next);
  return ends;
}

function cutBelowEnds(tree: PointerTree): void {
  if (tree.ends) tree.steps.clear();
  else for (const next of tree.steps.values()) cutBelowEnds(next);
}
