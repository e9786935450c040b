import type { ImportRow } from "./house-rules.js";
import { importTable, joinedErrorTable, moduleErrorTable } from "./house-rules.js";
import type { Import, PackageImports } from "./imports.js";
import { importsOf, inLibrary, targetsOf } from "./imports.js";
import type { SourceFile } from "./source.js";
import { violation } from "./source.js";

/** What the rule has to know about the library besides its sources. */
export interface LibraryShape {
  /** The files that package.json exports, as paths of the repository. */
  readonly doors: ReadonlySet<string>;
  readonly aliases: PackageImports;
}

/** Every import that the table of house-rules.ts does not allow. */
export function checkImportTable(files: readonly SourceFile[], shape: LibraryShape): string[] {
  const known = new Set(files.map((file) => file.path));
  return files.flatMap((file) =>
    importsOf(file).flatMap((found) => {
      const { specifier } = found;
      if (specifier === undefined)
        return [violation(file, found.offset, "imports a computed name; name the module in a string.")];
      const aliasUnknown = specifier.startsWith("#") && !shape.aliases.has(specifier);
      if (aliasUnknown)
        return [violation(file, found.offset, `${specifier} is not in "imports" of library/package.json.`)];
      return targetsOf(file, specifier, shape.aliases).flatMap((target) => {
        const problem = known.has(target)
          ? objection(file.path, target, found, shape.doors)
          : `imports ${target}, which is not a source file of the library.`;
        return problem === undefined ? [] : [violation(file, found.offset, problem)];
      });
    }),
  );
}

function objection(from: string, to: string, found: Import, doors: ReadonlySet<string>): string | undefined {
  if (doors.has(from)) return undefined;
  const source = inLibrary(from);
  const target = inLibrary(to);
  if (doors.has(to)) return `imports the door ${target}; import the file that the door re-exports.`;
  if (target === joinedErrorTable)
    return `imports ${joinedErrorTable}, which is for doors only; import the module's own *-errors.ts.`;
  if (isLeaf(target)) return undefined;
  if (isLeaf(source)) return leafObjection(source, target);
  const row = rowOf(source);
  if (!row)
    return `is in a folder without a row; give ${areaOf(source)}/ one in test/architecture/house-rules.ts.`;
  return rowObjection(row, { source, target, typeOnly: found.typeOnly });
}

function leafObjection(source: string, target: string): string | undefined {
  if (source === joinedErrorTable && moduleErrorTable.test(target)) return undefined;
  return `is a leaf and imports ${target}; a leaf imports leaves only: move it into the folder it belongs to.`;
}

function rowObjection(
  row: ImportRow,
  edge: { source: string; target: string; typeOnly: boolean },
): string | undefined {
  if (areaOf(edge.source) === areaOf(edge.target)) return undefined;
  if (row.may.some((entry) => covers(entry, edge.target))) return undefined;
  const byType = (row.mayType ?? []).some((entry) => covers(entry, edge.target));
  if (byType && edge.typeOnly) return undefined;
  if (byType) return `loads ${edge.target}, of which ${row.from} may know types only; write \`import type\`.`;
  const allowed = [...row.may, ...(row.mayType ?? [])].join(", ") || "leaves only";
  return `imports ${edge.target}, but ${row.from} may import ${allowed}; declare a port here, or move the code.`;
}

function isLeaf(path: string): boolean {
  return !path.includes("/");
}

/** The folder that a row speaks of: each database's store is one of its own. */
function areaOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "stores" ? `${first}/${second}` : first;
}

function rowOf(path: string): ImportRow | undefined {
  const area = areaOf(path);
  return importTable.find((row) => row.from === area || row.from === area.replace(/\/[^/]+$/, "/*"));
}

function covers(entry: string, target: string): boolean {
  return target === `${entry}.ts` || target.startsWith(`${entry}/`);
}
