import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Packed } from "./packed.js";
import { extract, packLibrary } from "./packed.js";
import { programsFolder } from "./places.js";
import type { Vector } from "./vectors.js";

/** A project outside of this repository that has installed the packed library, and nothing else. */
export interface Consumer {
  readonly folder: string;
  readonly packed: Packed;
  readonly vectors: readonly Vector[];
  remove(): Promise<void>;
}

/** Doors that need Node, by their nature. Every other one must also bundle and load where there is none. */
export const NODE_DOORS: readonly string[] = [
  "posthorn/dispatch",
  "posthorn/node",
  "posthorn/gateway",
  "posthorn/express",
  "posthorn/fastify",
  "posthorn/testing",
];

/** Doors whose types a consumer may use with nothing but the language: neither DOM nor @types/node. */
export const BARE_DOORS: readonly string[] = ["posthorn", "posthorn/verify", "posthorn/providers"];

/** Packs the library and installs it twice: as "posthorn", and as the copy that some dependency brought along. */
export async function createConsumer(vectors: readonly Vector[]): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), "posthorn-consumer-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const packed = await packLibrary(folder);
    await extract(packed.tarball, join(folder, "node_modules/posthorn"));
    await extract(packed.tarball, join(folder, "node_modules/dependency/node_modules/posthorn"));
    await cp(programsFolder, folder, { recursive: true });
    await cp(join(programsFolder, "dependency"), join(folder, "node_modules/dependency"), {
      recursive: true,
    });
    await writeFile(join(folder, "package.json"), manifestOf(packed));
    await writeFile(join(folder, "vectors.mjs"), `export const vectors = ${JSON.stringify(vectors)};\n`);
    await writeFile(join(folder, "every-door.mjs"), importAll(packed.doors));
    const portable = packed.doors.filter((door) => !NODE_DOORS.includes(door));
    await writeFile(join(folder, "portable-doors.mjs"), importAll(portable));
    return { folder, packed, vectors, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Bundles a program of the consumer as tools for the web do: without the condition "node". */
export async function bundleForWeb(consumer: Consumer, entry: string, output: string): Promise<string> {
  const outfile = join(consumer.folder, "bundles", output);
  await mkdir(join(consumer.folder, "bundles"), { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(consumer.folder, entry)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    target: "es2022",
    metafile: true,
    logLevel: "silent",
    absWorkingDir: consumer.folder,
  });
  // Left in place, they would load on Node all the same, and the web's cryptography would never be tried.
  const left = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  if (left.length > 0) throw new Error(`${output} still imports ${left.join(", ")}.`);
  return outfile;
}

function manifestOf({ manifest }: Packed): string {
  return JSON.stringify({
    name: "consumer",
    private: true,
    dependencies: { posthorn: manifest.version, dependency: "1.0.0" },
  });
}

/** A module that imports every one of the doors, and says under which names. */
export function importAll(doors: readonly string[]): string {
  const imports = doors.map((door, index) => `import * as door${index} from ${JSON.stringify(door)};\n`);
  const entries = doors.map((door, index) => `  ${JSON.stringify(door)}: door${index},\n`);
  return `${imports.join("")}export const doors = {\n${entries.join("")}};\n`;
}
