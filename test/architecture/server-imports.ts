import { serverRoot } from "./house-rules.js";
import { importsOf } from "./imports.js";
import type { SourceFile } from "./source.js";
import { violation } from "./source.js";

/** What the rule has to know of the packages. */
export interface ServerShape {
  /** The names of the library's doors, such as `posthorn/client`. */
  readonly doors: ReadonlySet<string>;
  /** The dependencies of server/package.json. */
  readonly dependencies: ReadonlySet<string>;
}

/** The server stands on the library's doors, Node and its declared packages: what else it reached would be in no install. */
export function checkServerImports(files: readonly SourceFile[], shape: ServerShape): string[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap(({ offset, specifier }) => {
      const problem = objection(file.path, specifier, shape);
      return problem === undefined ? [] : [violation(file, offset, problem)];
    }),
  );
}

function objection(
  path: string,
  specifier: string | undefined,
  { doors, dependencies }: ServerShape,
): string | undefined {
  if (specifier === undefined) return "imports a computed name; name the module in a string.";
  if (specifier.startsWith("node:")) return undefined;
  if (specifier.startsWith(".")) {
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
    return target.startsWith(serverRoot)
      ? undefined
      : `imports ${target}, which is not a part of the server; use a door of the library.`;
  }
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  if (name === "posthorn") {
    return doors.has(specifier) ? undefined : `imports ${specifier}, which is no door of the library.`;
  }
  return dependencies.has(name)
    ? undefined
    : `imports the package ${name}, which server/package.json does not name.`;
}
