import { CommandFailure } from "../../terminal/failure.js";
import type { Compiler } from "./compiler.js";
import { isAtLeast } from "./version-range.js";

/** How the written files end, and how they name each other. */
export interface FileKind {
  readonly extension: "ts" | "mts" | "mjs";
  readonly reference: "" | ".js" | ".mjs";
}

/** What decides it. */
export interface ModuleFacts {
  readonly typescript: boolean;
  /** package.json says `"type": "module"`. */
  readonly isModule: boolean;
  readonly compiler: Compiler | undefined;
  /** The project's TypeScript; undefined where another tool compiles. */
  readonly version: string | undefined;
}

/** Chooses files that run, and that the project's own `tsc` compiles. */
export function fileKindOf(facts: ModuleFacts): FileKind {
  if (!facts.typescript) return { extension: "mjs", reference: ".mjs" };
  refuseUnfit(facts);
  if (facts.isModule) return { extension: "ts", reference: ".js" };
  // tsc with "module": "commonjs" writes CommonJS even into an .mjs file, which no Node runs.
  return compilesRequire(facts)
    ? { extension: "ts", reference: "" }
    : { extension: "mts", reference: ".mjs" };
}

/** Whether a `.ts` file of a package without `"type": "module"` may import Posthorn, which is an ES module. */
function compilesRequire({ compiler, version }: ModuleFacts): boolean {
  if (compiler === undefined) return false;
  const { module, verbatimModuleSyntax } = compiler;
  // TS1479: these know no require() of an ES module.
  if (module === "node16" || module === "node18") return false;
  if (module !== "nodenext" && module !== "node20") return true;
  return isAtLeast(version, [5, 8]) && !verbatimModuleSyntax;
}

/** TS2307: without the `exports` of a package, TypeScript finds no door of Posthorn. */
function refuseUnfit({ compiler, version, isModule }: ModuleFacts): void {
  if (compiler === undefined || version === undefined) return;
  const resolution = compiler.moduleResolution ?? impliedResolution(compiler, version);
  if (!["node", "node10", "classic"].includes(resolution)) return;
  const since = isModule ? "" : ', with TypeScript 5.8 or newer (or "type": "module" in package.json)';
  throw new CommandFailure(
    "usage",
    `tsconfig.json resolves modules by "${resolution}", which does not read the exports of a package: tsc would not find posthorn/postgres.`,
    {
      cure: `Set "module": "nodenext" in tsconfig.json, take "moduleResolution" out${since}, and run this again. docs/receiving.md#typescript says more.`,
      code: "tsconfig_unfit",
    },
  );
}

/** What TypeScript takes where tsconfig.json names no `moduleResolution`. */
function impliedResolution({ module, target }: Compiler, version: string): string {
  if (isAtLeast(version, [6, 0])) return "bundler";
  const old = target === undefined || target === "es3" || target === "es5";
  const compiled = module ?? (old ? "commonjs" : "es2015");
  if (compiled.startsWith("node")) return compiled;
  if (compiled === "preserve") return "bundler";
  return compiled === "commonjs" ? "node10" : "classic";
}
