import { posix } from "node:path";
import type { Node } from "oxc-parser";
import { libraryRoot } from "./house-rules.js";
import type { SourceFile } from "./source.js";
import { walk } from "./source.js";

/** One mention of another module, of whatever syntax. */
export interface Import {
  readonly offset: number;
  /** Undefined where the specifier is computed. */
  readonly specifier: string | undefined;
  /** True for `import type … from` only: `import { type A } from` still loads the module at run time. */
  readonly typeOnly: boolean;
}

export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  walk(file.program, (node) => {
    const mention = importIn(node);
    if (mention) found.push(mention);
  });
  return found;
}

function importIn(node: Node): Import | undefined {
  const offset = node.start;
  if (node.type === "ImportDeclaration")
    return { offset, specifier: node.source.value, typeOnly: node.importKind === "type" };
  if (node.type === "ExportAllDeclaration" || (node.type === "ExportNamedDeclaration" && node.source))
    return { offset, specifier: node.source?.value, typeOnly: node.exportKind === "type" };
  if (node.type === "ImportExpression" || node.type === "TSImportType")
    return { offset, specifier: literal(node.source), typeOnly: node.type === "TSImportType" };
  if (node.type === "TSExternalModuleReference")
    return { offset, specifier: literal(node.expression), typeOnly: false };
  return undefined;
}

function literal(node: Node): string | undefined {
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

/** What `imports` of library/package.json says: `#crypto` → the source files that can stand for it. */
export type PackageImports = ReadonlyMap<string, readonly string[]>;

/** The source files that a relative or `#` specifier leads to; empty for a package and for `node:`. */
export function targetsOf(file: SourceFile, specifier: string, aliases: PackageImports): readonly string[] {
  if (specifier.startsWith("#")) return aliases.get(specifier) ?? [];
  if (!specifier.startsWith(".")) return [];
  return [posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, ".ts")];
}

/** The path inside library/src. */
export function inLibrary(path: string): string {
  return path.slice(libraryRoot.length);
}

/** True when `path`, inside library/src, is one of the files or lies in one of the folders (`folder/`). */
export function isListed(path: string, list: readonly string[]): boolean {
  return list.some((entry) => (entry.endsWith("/") ? path.startsWith(entry) : path === entry));
}
