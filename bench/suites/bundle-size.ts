import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The size in kB (1,000 bytes) of a module bundled for the web: every package inlined, minified, gzip. */
export async function bundledKB(source: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: fileURLToPath(new URL("..", import.meta.url)) },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    legalComments: "none",
    // The root tsconfig's paths lead to the source and to Node's cryptography.
    tsconfigRaw: {},
  });
  const [output] = outputFiles;
  if (!output) throw new Error("esbuild wrote no bundle.");
  return gzipSync(output.contents, { level: 9 }).byteLength / 1000;
}
