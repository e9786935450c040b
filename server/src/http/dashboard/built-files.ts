import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";

export interface BuiltFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
}

/** The dashboard as the build has left it: some hundred kilobytes, which are read once. */
export interface BuiltFiles {
  /** index.html. */
  readonly page: string;
  /** Those in assets/, by their names, which hold a hash of their content. */
  readonly assets: ReadonlyMap<string, BuiltFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const BESIDE = fileURLToPath(new URL("../../dashboard/", import.meta.url));

/** Reads what was built; undefined where nothing was, as in a run from source. */
export function readBuiltFiles(folder = BESIDE): BuiltFiles | undefined {
  try {
    const page = readFileSync(join(folder, "index.html"), "utf8");
    const names = readdirSync(join(folder, "assets"));
    return { page, assets: new Map(names.map((name) => [name, builtFile(join(folder, "assets", name))])) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function builtFile(path: string): BuiltFile {
  const bytes = readFileSync(path);
  return {
    type: TYPES[extname(path)] ?? "application/octet-stream",
    bytes,
    gzipped: gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }),
  };
}
