import type { Node } from "oxc-parser";
import type { SourceFile } from "./source.js";
import { violation, walk } from "./source.js";

/** Default exports: every importer may name one differently, and `require()` hands them over as `.default`. */
export function checkDefaultExports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    file.program.body
      .filter(exportsDefault)
      .map((node) => violation(file, node.start, "has a default export; export it by its name.")),
  );
}

function exportsDefault(node: Node): boolean {
  if (node.type === "ExportDefaultDeclaration" || node.type === "TSExportAssignment") return true;
  if (node.type !== "ExportNamedDeclaration") return false;
  return node.specifiers.some(({ exported }) => nameOf(exported) === "default");
}

function nameOf(node: Node): unknown {
  return node.type === "Identifier" ? node.name : node.type === "Literal" ? node.value : undefined;
}

/** Top-level await: with one anywhere in the graph, `require("posthorn")` throws. */
export function checkTopLevelAwait(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const found: string[] = [];
    walk(file.program, (node) => {
      if (isFunction(node)) return "skip";
      if (awaits(node))
        found.push(violation(file, node.start, "awaits at the top level; await inside a function."));
      return undefined;
    });
    return found;
  });
}

function isFunction(node: Node): boolean {
  return /^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/.test(node.type);
}

function awaits(node: Node): boolean {
  if (node.type === "AwaitExpression") return true;
  if (node.type === "ForOfStatement") return node.await;
  return node.type === "VariableDeclaration" && node.kind === "await using";
}
