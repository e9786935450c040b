import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Case } from "../case.js";
import { runChild } from "../child.js";
import type { Consumer } from "../consumer.js";
import { BARE_DOORS, importAll, NODE_DOORS } from "../consumer.js";
import { laneFolder, programsFolder, root } from "../places.js";

interface Compiler {
  readonly name: string;
  readonly folder: string;
  readonly modes: readonly Mode[];
}

/** How a consumer resolves packages: what its tsconfig says, and what kind of module its files are. */
interface Mode {
  readonly name: string;
  readonly type: "module" | "commonjs";
  readonly options: Readonly<Record<string, string>>;
}

/** What a consumer's compiler knows beyond the language. */
interface Surroundings {
  readonly name: string;
  readonly dom: boolean;
  readonly node: boolean;
}

const node16: Mode = { name: "node16 from a module", type: "module", options: { module: "node16" } };
const bundler: Mode = {
  name: "bundler",
  type: "module",
  options: { module: "esnext", moduleResolution: "bundler" },
};
// Compilers before 5.8 refuse every require of a module, whatever the package does.
const commonjs: Mode = { name: "nodenext from CommonJS", type: "commonjs", options: { module: "nodenext" } };

const compilers: readonly Compiler[] = [
  // The oldest that works: before 5.7 `Uint8Array` took no type argument, and ours has one.
  {
    name: "TypeScript 5.7",
    folder: join(laneFolder, "node_modules/typescript-5.7"),
    modes: [node16, bundler],
  },
  {
    name: "TypeScript 5.9",
    folder: join(laneFolder, "node_modules/typescript-5.9"),
    modes: [node16, bundler, commonjs],
  },
  {
    name: "our TypeScript",
    folder: join(root, "node_modules/typescript"),
    modes: [node16, bundler, commonjs],
  },
];

const surroundings: readonly Surroundings[] = [
  { name: "neither DOM nor @types/node", dom: false, node: false },
  { name: "DOM alone", dom: true, node: false },
  { name: "@types/node alone", dom: false, node: true },
  { name: "DOM and @types/node", dom: true, node: true },
];

/** Every compiler × module mode × surroundings, with skipLibCheck off: our .d.ts files are judged too. */
export const compilerCases: readonly Case[] = compilers.flatMap((compiler) =>
  compiler.modes.flatMap((mode) =>
    surroundings.map((around) => ({
      topic: "types",
      name: `compile with ${compiler.name}, ${mode.name}, ${around.name}`,
      run: (consumer: Consumer) => compile(consumer, { compiler, mode, around }),
    })),
  ),
);

async function compile(
  consumer: Consumer,
  { compiler, mode, around }: { compiler: Compiler; mode: Mode; around: Surroundings },
): Promise<undefined> {
  // Inside the consumer's project, so that the package is found; a folder each, so that no "type" is shared.
  const folder = join(consumer.folder, "compiled", [compiler.name, mode.name, around.name].join(", "));
  await mkdir(folder, { recursive: true });
  await cp(join(programsFolder, "compiled"), folder, { recursive: true });
  await writeFile(join(folder, "every-door.ts"), importAll(doorsIn(around, consumer.packed.doors)));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: mode.type }));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(configOf(mode, around)));
  const tsc = join(compiler.folder, "bin/tsc");
  const { code, stdout, stderr } = await runChild(process.execPath, [tsc, "-p", "tsconfig.json"], {
    cwd: folder,
  });
  if (code !== 0) throw new Error(`${stdout}${stderr}`.trim());
  return undefined;
}

function doorsIn({ dom, node }: Surroundings, doors: readonly string[]): readonly string[] {
  if (node) return doors;
  return doors.filter((door) => (dom ? !NODE_DOORS.includes(door) : BARE_DOORS.includes(door)));
}

function configOf(mode: Mode, around: Surroundings): object {
  return {
    compilerOptions: {
      ...mode.options,
      target: "es2022",
      lib: around.dom ? ["es2022", "dom"] : ["es2022"],
      types: around.node ? ["node"] : [],
      typeRoots: [join(root, "node_modules/@types")],
      strict: true,
      noEmit: true,
      skipLibCheck: false,
    },
    files: [
      "everywhere.ts",
      "every-door.ts",
      ...(around.dom ? ["with-dom.ts"] : []),
      ...(around.node ? ["with-node.ts"] : []),
      ...(mode.type === "commonjs" ? ["with-require.cts"] : []),
    ],
  };
}
