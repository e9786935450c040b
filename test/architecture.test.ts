import { homedir } from "node:os";
import { describe, expect, it } from "vitest";
import { checkBudgets, checkMedians, measureSizes } from "./architecture/budgets.js";
import { checkCycles } from "./architecture/cycles.js";
import { checkDashboardImports, checkHtmlSinks } from "./architecture/dashboard-rules.js";
import type { LibraryPackage } from "./architecture/doors.js";
import { aliasesOf, checkDoors, checkDoorsInDocs, checkExports, doorsOf } from "./architecture/doors.js";
import {
  budgets,
  dashboardRoot,
  libraryRoot,
  serverRoot,
  simulatorRoot,
} from "./architecture/house-rules.js";
import { checkImportTable } from "./architecture/import-table.js";
import { checkLintDirectives } from "./architecture/lint-directives.js";
import { checkDefaultExports, checkTopLevelAwait } from "./architecture/module-shape.js";
import { mirrorOf } from "./architecture/mirrored-stores.js";
import { checkNames } from "./architecture/names.js";
import { checkAbsolutePaths, checkDependencies, checkLock, checkOrigin } from "./architecture/packages.js";
import type { Origin } from "./architecture/packages.js";
import {
  checkEgress,
  checkEngineFlags,
  checkNodeGlobals,
  checkNodeSides,
  checkPlatformImports,
} from "./architecture/platform.js";
import { listFiles, readText, repositoryRoot } from "./architecture/project-files.js";
import { checkServerImports } from "./architecture/server-imports.js";
import { checkSimulatorImports } from "./architecture/simulator-imports.js";
import { parseSources } from "./architecture/source.js";

// Each rule is a function with tests of its own beside it; here they meet the repository.
const paths = listFiles(repositoryRoot);
const read = (path: string) => [path, readText(path)] as const;
const code = parseSources(paths.filter((path) => /\.(ts|tsx|js|mjs|cjs)$/.test(path)).map(read));
const library = code.filter(({ path }) => path.startsWith(libraryRoot) && !path.endsWith(".test.ts"));
const manifest = JSON.parse(readText("library/package.json")) as LibraryPackage;
const doors = doorsOf(manifest);
const aliases = aliasesOf(manifest);
const sizes = measureSizes(library);
const server = code.filter(({ path }) => path.startsWith(serverRoot) && !path.endsWith(".test.ts"));
const simulator = code.filter(({ path }) => path.startsWith(simulatorRoot) && !path.endsWith(".test.ts"));

const dashboard = code.filter(({ path }) => path.startsWith(dashboardRoot) && !path.endsWith(".test.ts"));

describe("the library's source", () => {
  it("is found, so that the rules below judge something", () => {
    expect(library.length).toBeGreaterThan(0);
  });

  it("imports only along the table of the house", () => {
    expect(checkImportTable(library, { doors, aliases })).toEqual([]);
  });

  it("has no import cycles, not even of types", () => {
    expect(checkCycles(library, aliases)).toEqual([]);
  });

  it("exports by name only, and awaits nothing while it loads", () => {
    expect([...checkDefaultExports(library), ...checkTopLevelAwait(library)]).toEqual([]);
  });

  it("touches Node, packages and the network only where the house allows it", () => {
    const checks = [checkPlatformImports, checkNodeSides, checkNodeGlobals, checkEgress];
    expect(checks.flatMap((check) => check(library))).toEqual([]);
  });

  it("has stores that mirror each other: who knows one of them finds the way in the other", () => {
    const { share, missing } = mirrorOf(paths, "sqlite", "postgres");
    expect(share, `Only stores/sqlite has ${missing.join(", ")}`).toBeGreaterThanOrEqual(0.8);
  });

  it(`has files and functions of a size to read (medians: ${sizes.fileMedian} of ${budgets.fileLines.median} lines, ${sizes.functionMedian} of ${budgets.functionLines.median})`, () => {
    expect([...checkBudgets(library), ...checkMedians(sizes)]).toEqual([]);
  });
});

describe("the library's package", () => {
  it("exports doors that exist, each with types, none by wildcard", () => {
    expect(checkExports(manifest, paths)).toEqual([]);
  });

  it("has no logic in its doors", () => {
    expect(checkDoors(library, doors)).toEqual([]);
  });

  it("mentions every door in the docs", () => {
    const pages = paths.filter((path) => path === "README.md" || /^docs\/.*\.md$/.test(path));
    expect(checkDoorsInDocs(manifest, new Map(pages.map(read)))).toEqual([]);
  });

  it("has no dependencies", () => {
    expect(checkDependencies(manifest)).toEqual([]);
  });
});

it.each(["library", "server"])("the package of %s says where its source and its pages are", (folder) => {
  expect(checkOrigin(folder, JSON.parse(readText(`${folder}/package.json`)) as Origin)).toEqual([]);
});

describe("the server's source", () => {
  it("imports the library by its doors, and packages that its package.json names", () => {
    expect(server.length).toBeGreaterThan(0);
    const { dependencies } = JSON.parse(readText("server/package.json")) as { dependencies: object };
    const names = Object.keys(manifest.exports ?? {}).map((door) => `posthorn${door.slice(1)}`);
    const shape = { doors: new Set(names), dependencies: new Set(Object.keys(dependencies)) };
    expect(checkServerImports(server, shape)).toEqual([]);
  });

  it("has no import cycles, and exports by name only", () => {
    expect([...checkCycles(server, new Map()), ...checkDefaultExports(server)]).toEqual([]);
  });

  it("has files and functions of a size to read", () => {
    expect([...checkBudgets(server), ...checkMedians(measureSizes(server))]).toEqual([]);
  });
});

describe("the dashboard's source", () => {
  it("knows the HTTP API alone, by the client of it", () => {
    expect(dashboard.length).toBeGreaterThan(0);
    const { dependencies } = JSON.parse(readText("dashboard/package.json")) as { dependencies: object };
    expect(checkDashboardImports(dashboard, new Set(Object.keys(dependencies)))).toEqual([]);
  });

  it("turns no text into a part of the page", () => {
    expect(checkHtmlSinks(dashboard)).toEqual([]);
  });

  it("has no import cycles, and exports by name only", () => {
    const own = dashboard.filter(({ path }) => !path.endsWith(".d.ts"));
    expect([...checkCycles(own, new Map()), ...checkDefaultExports(own)]).toEqual([]);
  });

  it("has files and functions of a size to read", () => {
    expect(checkBudgets(dashboard)).toEqual([]);
  });
});

describe("the simulator's source", () => {
  it("imports the library's source and itself, and its laws ask nothing that they judge", () => {
    expect(simulator.length).toBeGreaterThan(0);
    expect(checkSimulatorImports(simulator)).toEqual([]);
  });

  it("has no import cycles, and files and functions of a size to read", () => {
    expect([...checkCycles(simulator, new Map()), ...checkBudgets(simulator)]).toEqual([]);
  });
});

describe("the product", () => {
  it("sets no flags of V8 while it runs", () => {
    expect(checkEngineFlags([...library, ...server])).toEqual([]);
  });
});

describe("the repository", () => {
  it("names files and folders after what they do", () => {
    expect(checkNames(paths)).toEqual([]);
  });

  it("gives a reason wherever a lint rule is switched off", () => {
    expect(checkLintDirectives(code)).toEqual([]);
  });

  it("has locks that name no registry", () => {
    const locks = paths.filter((path) => path.endsWith("package-lock.json"));
    expect(locks).toContain("package-lock.json");
    expect(locks.flatMap((path) => checkLock(...read(path)))).toEqual([]);
  });

  it("contains no path of the machine it was written on", () => {
    expect(checkAbsolutePaths(paths.map(read), [repositoryRoot, homedir()])).toEqual([]);
  });

  it("is tested in CI by the command that the README gives", () => {
    const pages = [".ci/run", "README.md", "CONTRIBUTING.md"];
    expect(pages.filter((path) => !readText(path).includes("npm run test:all"))).toEqual([]);
  });
});
