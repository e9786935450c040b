import { parseSync, visitorKeys } from "oxc-parser";
import type { Comment, Node, Program } from "oxc-parser";

/** One parsed file; `path` is relative to the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
}

/** Parses files given as path → text, so that a rule can be fed an example as easily as the repository. */
export function parseSources(sources: Iterable<readonly [path: string, text: string]>): SourceFile[] {
  return Array.from(sources, ([path, text]) => {
    const result = parseSync(path, text, { sourceType: path.endsWith(".cjs") ? "commonjs" : "module" });
    const error = result.errors[0];
    // A file that does not parse has an empty tree, and would pass every rule.
    if (error) throw new Error(`${path} does not parse: ${error.message}`);
    return { path, text, program: result.program, comments: result.comments };
  });
}

/** A broken rule: where, what, and the cure. */
export function violation(file: SourceFile, offset: number, message: string): string {
  return `${file.path}:${lineAt(file.text, offset)}: ${message}`;
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** Visits every node before its children; `parents` is outermost first. A visit that returns "skip" keeps out. */
export function walk(
  node: Node,
  visit: (node: Node, parents: readonly Node[]) => "skip" | void,
  parents: readonly Node[] = [],
): void {
  if (visit(node, parents) === "skip") return;
  const below = [...parents, node];
  for (const child of childrenOf(node)) walk(child, visit, below);
}

function childrenOf(node: Node): Node[] {
  const fields = node as unknown as Record<string, unknown>;
  return (visitorKeys[node.type] ?? []).flatMap((key) => fields[key]).filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}
