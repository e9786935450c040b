import { posix } from "node:path";
import type { Node } from "oxc-parser";
import type { SourceFile } from "../../test/architecture/source.js";
import { declarationIn } from "./declaration.js";
import type { Declaration } from "./declaration.js";
import { docBefore } from "./doc-comment.js";

/** One entry of the package's `exports`, with everything that it exports. */
export interface Door {
  /** As it is imported: `posthorn/verify`. */
  readonly name: string;
  /** What the file says of itself. */
  readonly says: string;
  readonly exported: readonly Exported[];
  /** Doors whose exports it has as well. */
  readonly includes: readonly string[];
}

/** A declaration and the file that holds it: the same one may be reached by several doors. */
export interface Exported extends Declaration {
  readonly path: string;
}

/** Reads the doors of a package: `files` are its sources by their paths, `doors` the doors' files by their names. */
export function readDoors(
  files: ReadonlyMap<string, SourceFile>,
  doors: ReadonlyMap<string, string>,
): readonly Door[] {
  const names = new Map([...doors].map(([name, path]) => [path, name]));
  return [...doors].map(([name, path]) => {
    const file = fileAt(files, path);
    const [first] = file.program.body;
    const all = file.program.body.flatMap((node) =>
      node.type === "ExportAllDeclaration" ? [targetOf(path, node.source.value)] : [],
    );
    return {
      name,
      says: first === undefined ? "" : (docBefore(file.text, file.comments, first.start)?.prose ?? ""),
      exported: file.program.body.flatMap((node) => namedBy(node).map((each) => resolve(files, path, each))),
      includes: all.map((target) => names.get(target) ?? target),
    };
  });
}

function namedBy(node: Node): readonly string[] {
  return node.type === "ExportNamedDeclaration" && node.source !== null
    ? node.specifiers.map(({ local }) => textOf(local))
    : [];
}

/** Follows re-exports from file to file until one declares the name. */
function resolve(files: ReadonlyMap<string, SourceFile>, path: string, name: string): Exported {
  const file = fileAt(files, path);
  const declared = declarationIn(file, name);
  if (declared !== undefined) return { ...declared, path };
  for (const node of file.program.body) {
    if (node.type !== "ExportNamedDeclaration" && node.type !== "ImportDeclaration") continue;
    if (node.source === null) continue;
    const names = node.specifiers.map((each) => textOf("exported" in each ? each.exported : each.local));
    if (names.includes(name)) return resolve(files, targetOf(path, node.source.value), name);
  }
  throw new Error(`${path} exports ${name}, and no file of the package declares it.`);
}

function textOf(node: Node): string {
  if (node.type === "Identifier") return node.name;
  if (node.type === "Literal") return String(node.value);
  throw new Error(`A name was expected in place of ${node.type}.`);
}

function targetOf(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier.replace(/\.js$/, ".ts"));
}

function fileAt(files: ReadonlyMap<string, SourceFile>, path: string): SourceFile {
  const found = files.get(path);
  if (found === undefined) throw new Error(`There is no ${path}.`);
  return found;
}
