import { posix } from "node:path";
import { libraryRoot } from "./house-rules.js";
import type { PackageImports } from "./imports.js";
import type { SourceFile } from "./source.js";
import { violation } from "./source.js";

/** The fields of library/package.json that the rules read. */
export interface LibraryPackage {
  readonly exports?: Readonly<Record<string, Conditions>>;
  readonly imports?: Readonly<Record<string, Conditions>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export type Conditions = string | null | { readonly [condition: string]: Conditions };

const manifest = "library/package.json";
// Tools read the version through it; it is no door.
const selfExport = "./package.json";

/** The source files behind `exports`. */
export function doorsOf(library: LibraryPackage): Set<string> {
  const targets = Object.values(library.exports ?? {}).flatMap((conditions) => targetsIn(conditions));
  return new Set(targets.map(sourceOf).filter((path) => path.endsWith(".ts")));
}

/** The source files behind each `#name` of `imports`. */
export function aliasesOf(library: LibraryPackage): PackageImports {
  return new Map(
    Object.entries(library.imports ?? {}).map(([name, conditions]) => {
      const sources = targetsIn(conditions).map(sourceOf);
      return [name, [...new Set(sources.filter((path) => path.startsWith(libraryRoot)))]];
    }),
  );
}

/** `exports` and the files it promises are the same list, each with types and without a wildcard. */
export function checkExports(library: LibraryPackage, paths: Iterable<string>): string[] {
  const files = new Set(paths);
  return Object.entries(library.exports ?? {})
    .filter(([name]) => name !== selfExport)
    .flatMap(([name, conditions]) => [
      checkWildcard(name),
      checkTypes(name, conditions),
      checkTargets(name, conditions, files),
    ])
    .flat();
}

function checkWildcard(name: string): string[] {
  return name.includes("*") ? [`${manifest}: the export "${name}" is a wildcard; list each door.`] : [];
}

function checkTargets(name: string, conditions: Conditions, files: ReadonlySet<string>): string[] {
  return [...new Set(targetsIn(conditions).map(sourceOf))]
    .filter((path) => !files.has(path) || posix.join(posix.dirname(path), "/") !== libraryRoot)
    .map((path) => `${manifest}: the export "${name}" needs ${path}, a file directly in ${libraryRoot}.`);
}

function checkTypes(name: string, conditions: Conditions): string[] {
  if (conditions === null) return [];
  if (typeof conditions === "string") return [withoutTypes(name, conditions)];
  const { types, ...others } = conditions;
  return Object.values(others).flatMap((target) => {
    if (typeof target !== "string") return checkTypes(name, target);
    return typeof types === "string" && sourceOf(types) === sourceOf(target)
      ? []
      : [withoutTypes(name, target)];
  });
}

function withoutTypes(name: string, target: string): string {
  const types = target.replace(/\.js$/, ".d.ts");
  return `${manifest}: the export "${name}" gives ${target} without its types; put "types": "${types}" beside it.`;
}

/** A door has no logic, and a file that only re-exports is a door. */
export function checkDoors(files: readonly SourceFile[], doors: ReadonlySet<string>): string[] {
  return files.flatMap((file) => {
    const other = file.program.body.find(
      (node) =>
        node.type !== "ExportAllDeclaration" && !(node.type === "ExportNamedDeclaration" && node.source),
    );
    if (doors.has(file.path) && other)
      return [violation(file, other.start, "is a door and has code; a door only says `export … from`.")];
    const undeclared = !other && file.program.body.length > 0 && !doors.has(file.path);
    if (undeclared)
      return [
        violation(file, 0, `only re-exports, but ${manifest} does not export it; list it, or delete it.`),
      ];
    return [];
  });
}

/** Every door can be found by reading: its name stands in the README or on a page of docs/. */
export function checkDoorsInDocs(library: LibraryPackage, texts: ReadonlyMap<string, string>): string[] {
  // Before there is a page that introduces the doors, a page on something else need not.
  if (!texts.has("README.md") && !texts.has("docs/doors.md")) return [];
  const pages = [...texts.values()];
  return Object.keys(library.exports ?? {})
    .filter((name) => name !== selfExport)
    .map((name) => posix.join("posthorn", name))
    .filter((door) => !pages.some((page) => new RegExp(`${door}(?![\\w/-])`).test(page)))
    .map((door) => `README.md, docs/: no page mentions the door "${door}"; say what it is for.`);
}

function targetsIn(conditions: Conditions): string[] {
  if (conditions === null) return [];
  if (typeof conditions === "string") return [conditions];
  return Object.values(conditions).flatMap(targetsIn);
}

/** ./dist/verify.js → library/src/verify.ts */
function sourceOf(target: string): string {
  return posix.join("library", target.replace(/^\.\/dist\//, "./src/").replace(/(\.d\.ts|\.js)$/, ".ts"));
}
