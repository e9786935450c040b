import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { root } from "./checkout.js";
import { packBoth } from "./pack.js";
import { mustRun, runProgram } from "./run-program.js";
import type { ProgramOptions } from "./run-program.js";

// `posthorn init` from the packed tarballs, in projects as people have them. Other packages are linked from a lane and from
// the workspace: installing them again would take minutes.

/** Where such projects stand. */
export interface Workshop {
  readonly home: string;
  /** A project's folder with its package.json and tsconfig.json, and with what `npm install` would bring. */
  readonly open: (name: string, manifest: object, compilerOptions?: object) => string;
  /** What `npm install` would do. */
  readonly install: (project: string) => void;
  readonly close: () => void;
}

/** Unpacks the tarballs; `lane` is the folder whose packages the projects get. */
export async function openWorkshop(lane: string): Promise<Workshop> {
  const home = mkdtempSync(join(tmpdir(), "posthorn-init-"));
  const tools = join(home, "tools");
  const { library, server } = await packBoth();
  for (const [name, tarball] of [
    ["posthorn", library],
    ["posthorn-server", server],
  ] as const) {
    mkdirSync(join(tools, name), { recursive: true });
    await mustRun("tar", ["-xzf", tarball, "-C", join(tools, name), "--strip-components", "1"], {
      cwd: tools,
    });
  }
  const install = (project: string): void => installFrom(lane, tools, project);
  return {
    home,
    install,
    open(name, manifest, compilerOptions = {}) {
      const project = join(home, name.replaceAll(/[^a-z]+/gi, "-").toLowerCase());
      mkdirSync(project);
      const write = (file: string, content: object): void =>
        writeFileSync(join(project, file), JSON.stringify(content));
      write("package.json", { name: "shop", private: true, ...manifest });
      write("tsconfig.json", { compilerOptions: { ...COMPILER, ...compilerOptions } });
      install(project);
      return project;
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

const COMPILER = {
  target: "es2022",
  module: "nodenext",
  strict: true,
  experimentalDecorators: true,
  skipLibCheck: true,
  types: ["node"],
  outDir: "dist",
  rootDir: ".",
};

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8")) as Manifest;

function installFrom(lane: string, tools: string, project: string): void {
  const modules = join(project, "node_modules");
  for (const name of ["posthorn", "posthorn-server"]) {
    if (!existsSync(join(modules, name))) cpSync(join(tools, name), join(modules, name), { recursive: true });
  }
  const own = read(join(project, "package.json"));
  const server = read(join(modules, "posthorn-server/package.json"));
  for (const name of Object.keys({ ...own.dependencies, ...own.devDependencies }))
    link([lane, root], modules, name);
  // From the workspace first: the lane may have another version for a package of its own.
  for (const name of Object.keys(server.dependencies ?? {})) link([root, lane], modules, name);
}

function link(places: readonly string[], modules: string, name: string): void {
  const path = join(modules, name);
  if (existsSync(path)) return;
  const from = places.map((place) => join(place, "node_modules", name)).find((place) => existsSync(place));
  if (from === undefined) throw new Error(`${name} is neither in the lane nor in the workspace.`);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(from, path);
}

/** What `init --json` prints. */
export interface Wrote {
  readonly testScript: string;
  readonly files: readonly string[];
}

/** Runs `posthorn init --yes` in a project, and then the test that it wrote, untouched. */
export async function initAndTest({ install }: Workshop, run: ProgramOptions): Promise<Wrote> {
  const program = join(run.cwd, "node_modules/posthorn/bin/posthorn.mjs");
  const { out } = await mustRun(process.execPath, [program, "init", "--yes", "--json"], run);
  const wrote = JSON.parse(out) as Wrote;
  install(run.cwd);
  const tested = await runProgram("npm", ["run", wrote.testScript], run);
  expect(tested, `${tested.out}\n${tested.err}`).toMatchObject({
    code: 0,
    out: expect.stringMatching(/pass 1\b|1 passed/) as string,
  });
  return wrote;
}

/** Expects that the project's tsc has nothing to say. */
export async function expectToCompile(run: ProgramOptions): Promise<void> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  expect(await runProgram(process.execPath, [tsc], run)).toMatchObject({ code: 0, out: "" });
}
