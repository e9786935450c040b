import { posix } from "node:path";
import type { Node } from "oxc-parser";
import { dashboardDoor, dashboardRoot, htmlSinks } from "./house-rules.js";
import { importsOf } from "./imports.js";
import type { SourceFile } from "./source.js";
import { violation, walk } from "./source.js";

/** The dashboard stands on the HTTP API: of ours it knows the typed client, and no file beside its own. */
export function checkDashboardImports(
  files: readonly SourceFile[],
  dependencies: ReadonlySet<string>,
): string[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap(({ offset, specifier }) => {
      const problem = objection(file.path, specifier, dependencies);
      return problem === undefined ? [] : [violation(file, offset, problem)];
    }),
  );
}

function objection(
  path: string,
  specifier: string | undefined,
  dependencies: ReadonlySet<string>,
): string | undefined {
  if (specifier === undefined) return "imports a computed name; name the module in a string.";
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(path), specifier);
    return target.startsWith(dashboardRoot)
      ? undefined
      : `imports ${target}, which is not a part of the dashboard; ask the API.`;
  }
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  if (name === "posthorn") {
    return specifier === dashboardDoor
      ? undefined
      : `imports ${specifier}; the dashboard knows ${dashboardDoor} alone.`;
  }
  return dependencies.has(name)
    ? undefined
    : `imports the package ${name}, which dashboard/package.json does not name.`;
}

/** Payloads are text nodes: nothing may turn a text into a part of the page, or into a program. */
export function checkHtmlSinks(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const found: string[] = [];
    walk(file.program, (node) => {
      const name = nameOf(node);
      if (name === undefined || !htmlSinks.has(name)) return;
      found.push(violation(file, node.start, `uses ${name}; show what comes from outside as a text node.`));
    });
    return found;
  });
}

function nameOf(node: Node): string | undefined {
  if (node.type === "Identifier" || node.type === "JSXIdentifier") return node.name;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}
