import { existsSync } from "node:fs";
import { join } from "node:path";
import { mustRun } from "./child.js";
import { laneFolder } from "./places.js";

/** A JavaScript runtime that starts a file as a process. workerd serves HTTP instead, and has a case of its own. */
export interface Runtime {
  readonly name: string;
  /** Undefined where the lane has no binary for this platform. */
  readonly binary: string | undefined;
  /** What comes before the file's name on the command line. */
  readonly args: readonly string[];
}

const platform = `${process.platform}-${process.arch}`;

// The platform packages themselves, of which npm picks by "os" and "cpu". The packages around them would run
// install scripts, and want platforms in the lock that a registry may not have yet: `npm ci` refuses such a lock.
const nodePackages: Readonly<Record<string, readonly string[]>> = {
  "node 20": ["linux-x64", "linux-arm64"],
  "node 22": ["linux-x64", "linux-arm64", "darwin-arm64"],
  "node 24": ["linux-x64", "linux-arm64"],
  "node 26": ["linux-x64", "linux-arm64", "darwin-arm64"],
};

const otherBinaries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bun: {
    "linux-x64": "@oven/bun-linux-x64/bin/bun",
    "linux-arm64": "@oven/bun-linux-aarch64/bin/bun",
    "darwin-arm64": "@oven/bun-darwin-aarch64/bin/bun",
  },
  deno: {
    "linux-x64": "@deno/linux-x64-glibc/deno",
    "linux-arm64": "@deno/linux-arm64-glibc/deno",
    "darwin-arm64": "@deno/darwin-arm64/deno",
  },
  workerd: {
    "linux-x64": "@cloudflare/workerd-linux-64/bin/workerd",
    "linux-arm64": "@cloudflare/workerd-linux-arm64/bin/workerd",
    "darwin-arm64": "@cloudflare/workerd-darwin-arm64/bin/workerd",
  },
};

/** Every runtime that starts files: each supported Node, the one that runs the lane, Bun and Deno. */
export const runtimes: readonly Runtime[] = [
  ...Object.keys(nodePackages).map((name) => ({ name, binary: nodeBinary(name), args: [] })),
  { name: "node here", binary: process.execPath, args: [] },
  { name: "bun", binary: otherBinary("bun"), args: ["--no-install"] },
  // No permission is given: to verify a request takes none, and Deno would tell if it did.
  { name: "deno", binary: otherBinary("deno"), args: ["run", "--no-prompt", "--cached-only"] },
];

export const workerdBinary: string | undefined = otherBinary("workerd");

/** Why a runtime cannot be tried here; undefined where it can. */
export function whyMissing(name: string, binary: string | undefined): string | undefined {
  return binary === undefined ? `the lane lists no binary of ${name} for ${platform}` : undefined;
}

/**
 * The version of every runtime that this platform has. Fails where npm should have brought the binary and did not:
 * npm passes over an optional package that it could not load, and a skip would hide it.
 */
export async function readVersions(): Promise<ReadonlyMap<string, string>> {
  const present = [...runtimes, { name: "workerd", binary: workerdBinary }];
  const versions = present.flatMap(({ name, binary }) =>
    binary === undefined ? [] : [versionOf(name, binary)],
  );
  return new Map(await Promise.all(versions));
}

async function versionOf(name: string, binary: string): Promise<readonly [string, string]> {
  if (!existsSync(binary)) throw new Error(`${binary} is missing; run npm ci --prefix test/consumers.`);
  const { stdout } = await mustRun(binary, ["--version"], { cwd: laneFolder });
  return [name, /\d[\d.-]*\d/.exec(stdout)?.[0] ?? stdout.trim()];
}

function nodeBinary(name: string): string | undefined {
  if (!nodePackages[name]?.includes(platform)) return undefined;
  return join(laneFolder, "node_modules", `${name.replace(" ", "-")}-${platform}`, "bin/node");
}

function otherBinary(name: string): string | undefined {
  const path = otherBinaries[name]?.[platform];
  return path === undefined ? undefined : join(laneFolder, "node_modules", path);
}
