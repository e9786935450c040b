import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Plugin } from "esbuild";
import type { Planted } from "./mutant.js";
import { plantedIn } from "./mutant.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// What the bundle finds in node_modules when it runs.
const EXTERNAL = ["undici", "better-sqlite3", "pg", "postgres", "standardwebhooks"];

let built = 0;

/** Builds a program of this folder on the library's source, with a bug in it where one is given; says where it lies. */
export async function builtWith(program: string, planted: Planted | undefined): Promise<string> {
  const name = (planted?.name ?? "no bug").replaceAll(/[^a-z0-9]+/gi, "-");
  // Numbered: the same bug is planted in two databases at once, and who ends first removes its file.
  const outfile = here(`../../.cache/mutants/${program}-${name}-${++built}.mjs`);
  await build({
    entryPoints: [here(`${program}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    tsconfig: here("../../tsconfig.json"),
    external: EXTERNAL,
    // The harnesses of the tests ask their runner to close what they have opened.
    alias: { vitest: here("at-end.ts") },
    plugins: planted === undefined ? [] : [planting(planted)],
    logLevel: "error",
  });
  return outfile;
}

/** Gives the bundler another text than the file has. */
function planting(planted: Planted): Plugin {
  const path = here(`../../library/src/${planted.file}`);
  return {
    name: "plant",
    setup(bundler) {
      const filter = new RegExp(`${path.replaceAll(/[.+*?^$(){}|[\]\\]/g, String.raw`\$&`)}$`);
      bundler.onLoad({ filter }, async () => ({
        contents: plantedIn(await readFile(path, "utf8"), planted),
        loader: "ts",
      }));
    },
  };
}
