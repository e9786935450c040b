import type { Node } from "oxc-parser";
import {
  egressAllowed,
  egressGlobals,
  engineFlags,
  nodeBound,
  nodeGlobals,
  nodeSide,
  peerImports,
} from "./house-rules.js";
import { importsOf, inLibrary, isListed } from "./imports.js";
import type { SourceFile } from "./source.js";
import { violation, walk } from "./source.js";

/** `node:` and package imports where they do not belong: one is enough to break every edge runtime. */
export function checkPlatformImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap(({ offset, specifier }) => {
      const problem = platformObjection(inLibrary(file.path), specifier ?? ".");
      return problem === undefined ? [] : [violation(file, offset, problem)];
    }),
  );
}

function platformObjection(path: string, specifier: string): string | undefined {
  if (/^[.#]/.test(specifier)) return undefined;
  if (specifier.startsWith("node:")) {
    if (isListed(path, nodeBound)) return undefined;
    return `imports ${specifier}; use a web standard, or move it behind a file listed in \`nodeBound\`.`;
  }
  if (isListed(path, peerImports.get(specifier) ?? [])) return undefined;
  return `imports the package ${specifier}; the library has no dependencies: let the host hand it in.`;
}

/** Imports of a Node side by its own name: the edge would load it in spite of the alias. */
export function checkNodeSides(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !nodeSide.test(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter(
          ({ specifier = "" }) =>
            specifier.startsWith(".") && nodeSide.test(specifier.replace(/\.js$/, ".ts")),
        )
        .map(({ offset, specifier }) =>
          violation(file, offset, `imports ${specifier}, a Node side; import the alias (#crypto) instead.`),
        ),
    );
}

/** Node's globals, which are typed everywhere and missing at the edge. */
export function checkNodeGlobals(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isListed(inLibrary(file.path), nodeBound))
    .flatMap((file) =>
      mentionsOf(file, nodeGlobals).map(({ name, offset }) =>
        violation(
          file,
          offset,
          `uses ${name}, which only Node has; use a web standard (Uint8Array, an argument).`,
        ),
      ),
    );
}

/** A second way out of the process would pass by the address guard. */
export function checkEgress(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isListed(inLibrary(file.path), egressAllowed))
    .flatMap((file) =>
      mentionsOf(file, egressGlobals).map(({ name, offset }) =>
        violation(file, offset, `uses ${name}; every request leaves through delivery's transport.`),
      ),
    );
}

/** Flags of V8 that are set while the process runs: they change the host's whole process, and undocumented ones break. */
export function checkEngineFlags(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const found: string[] = [];
    walk(file.program, (node) => {
      const name = node.type === "Identifier" ? node.name : node.type === "Literal" ? node.value : undefined;
      if (name !== engineFlags) return;
      found.push(violation(file, node.start, `uses ${name}; the process runs on Node's defaults.`));
    });
    return found;
  });
}

interface Mention {
  readonly name: string;
  readonly offset: number;
}

function mentionsOf(file: SourceFile, names: ReadonlySet<string>): Mention[] {
  const found: Mention[] = [];
  walk(file.program, (node, parents) => {
    if (node.type !== "Identifier" || !names.has(node.name)) return;
    const parent = parents.at(-1);
    if (parent && isMereKey(node, parent)) return;
    found.push({ name: node.name, offset: node.start });
  });
  return found;
}

const globalObjects = new Set(["globalThis", "self", "window", "global"]);

/** True for `x.fetch`, `{ fetch: … }`, `fetch() {}` in a class: a key, not the global. `globalThis.fetch` is the global. */
function isMereKey(node: Node, parent: Node): boolean {
  if (parent.type === "MemberExpression") {
    const { computed, object, property } = parent;
    const ofGlobal = object.type === "Identifier" && globalObjects.has(object.name);
    return property === node && !computed && !ofGlobal;
  }
  if ("key" in parent && parent.key === node) return !("computed" in parent && parent.computed);
  return parent.type === "TSQualifiedName" && parent.right === node;
}
