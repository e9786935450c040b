import type { Import, PackageImports } from "./imports.js";
import { importsOf, targetsOf } from "./imports.js";
import type { SourceFile } from "./source.js";
import { violation } from "./source.js";

interface Edge {
  readonly found: Import;
  readonly target: string;
}

/** Every import that closes a circle. Types count: two files that need each other's types are one file cut in half. */
export function checkCycles(files: readonly SourceFile[], aliases: PackageImports): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const edges = new Map(files.map((file) => [file.path, edgesOf(file, aliases)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: SourceFile, trail: readonly string[]): void => {
    const path = [...trail, file.path];
    for (const { found, target } of edges.get(file.path) ?? []) {
      const start = path.indexOf(target);
      const next = byPath.get(target);
      if (start !== -1) circles.push(violation(file, found.offset, describe([...path.slice(start), target])));
      else if (next && !done.has(target)) visit(next, path);
    }
    done.add(file.path);
  };
  for (const file of files) if (!done.has(file.path)) visit(file, []);
  return circles;
}

function edgesOf(file: SourceFile, aliases: PackageImports): Edge[] {
  return importsOf(file).flatMap((found) =>
    targetsOf(file, found.specifier ?? "", aliases).map((target) => ({ found, target })),
  );
}

function describe(circle: readonly string[]): string {
  return `closes the circle ${circle.join(" → ")}; move what both sides need into a file that imports neither.`;
}
