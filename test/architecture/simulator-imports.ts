import { posix } from "node:path";
import { libraryRoot, lawConstants, lawsRoot, modelRoot, simulatorRoot } from "./house-rules.js";
import { importsOf } from "./imports.js";
import type { SourceFile } from "./source.js";
import { violation, walk } from "./source.js";

/** The simulator runs what is shipped, in a world of its own: no database, no platform, nothing of the tests. */
export function checkSimulatorImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [
    ...importsOf(file).flatMap(({ offset, specifier }) => {
      const problem = objection(file.path, specifier);
      return problem === undefined ? [] : [violation(file, offset, problem)];
    }),
    ...(file.path.startsWith(lawsRoot) ? decisionsIn(file) : []),
  ]);
}

function objection(path: string, specifier: string | undefined): string | undefined {
  if (specifier === undefined) return "imports a computed name; name the module in a string.";
  if (!specifier.startsWith("."))
    return `imports ${specifier}; the simulator stands on library/src alone, so that a seed is the same run everywhere.`;
  const target = targetOf(path, specifier);
  if (path.startsWith(lawsRoot) && target.startsWith(modelRoot))
    return `imports ${target}; a law judges what a store answered, and knows no store.`;
  if (target.startsWith(`${libraryRoot}stores/`))
    return `imports ${target}; the simulator's store is its model, and another one is handed in.`;
  if (target.startsWith(libraryRoot) || target.startsWith(simulatorRoot)) return undefined;
  return `imports ${target}; the simulator may import ${libraryRoot} and itself.`;
}

/** A law that asked the rule which it judges would find every mistake of the rule right. */
function decisionsIn(file: SourceFile): string[] {
  const found: string[] = [];
  walk(file.program, (node) => {
    if (node.type !== "ImportDeclaration" || node.importKind === "type") return;
    const names = lawConstants.get(targetOf(file.path, node.source.value));
    if (names === undefined) return;
    for (const each of node.specifiers) {
      const name = each.type === "ImportSpecifier" && "name" in each.imported ? each.imported.name : "*";
      if (!names.has(name))
        found.push(violation(file, node.start, `imports ${name}; a law decides by itself what is right.`));
    }
  });
  return found;
}

function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");
}
