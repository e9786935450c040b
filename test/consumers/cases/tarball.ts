import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Case } from "../case.js";
import { expectNone } from "../case.js";
import type { Consumer } from "../consumer.js";
import { root } from "../places.js";
import { checkManifest } from "../manifest-rules.js";

const promise = (name: string, check: (consumer: Consumer) => Promise<string[]> | string[]): Case => ({
  topic: "tarball",
  name,
  run: async (consumer) => {
    expectNone(await check(consumer));
    return undefined;
  },
});

/** What `npm publish` would put into the world. */
export const tarballCases: readonly Case[] = [
  {
    topic: "tarball",
    name: "holds the command, the built files, the migrations as SQL, package.json, README and LICENSE, and nothing else",
    run: ({ packed }) => {
      const stray = packed.files.filter(
        (path) =>
          !/^(package\.json|README\.md|LICENSE|bin\/posthorn\.mjs|dist\/.+|src\/stores\/\w+\/schema\/migrations\/\d{4}_\w+\.sql)$/.test(
            path,
          ),
      );
      const missing = ["package.json", "README.md", "LICENSE"].filter((path) => !packed.files.includes(path));
      expectNone([
        ...stray.map((path) => `${path} is in the tarball.`),
        ...missing.map((path) => `${path} is not in the tarball; npm takes it only from library/ itself.`),
      ]);
      return Promise.resolve(`${packed.files.length} files, ${packed.bytes} bytes`);
    },
  },
  promise(
    "holds of each source its code and its types: no tests, no maps, nothing left from older builds",
    ({ packed }) => packed.files.filter((path) => path.startsWith("dist/")).flatMap(checkBuiltFile),
  ),
  promise("refers to no source map that it does not hold", async ({ folder, packed }) => {
    const built = packed.files.filter((path) => path.endsWith(".js") || path.endsWith(".d.ts"));
    const texts = await Promise.all(built.map((path) => readFile(join(folder, "opened", path), "utf8")));
    return built.filter((_, index) => texts[index]?.includes("//# sourceMappingURL=")).map(danglingMap);
  }),
  promise("has a package.json that every tool resolves alike", ({ packed }) =>
    checkManifest(packed.manifest, packed.files),
  ),
  promise("needs no other package and runs nothing at install", ({ packed: { manifest } }) => {
    const hooks = ["preinstall", "install", "postinstall", "prepare"].filter(
      (name) => manifest.scripts?.[name],
    );
    const needs = ["dependencies", "bundledDependencies", "bundleDependencies"].filter(
      (field) => field in manifest,
    );
    return [...hooks, ...needs].map((field) => `package.json has "${field}".`);
  }),
];

function checkBuiltFile(path: string): string[] {
  if (!/\.(js|d\.ts)$/.test(path)) return [`${path} is neither code nor types.`];
  const source = path.replace(/^dist\//, "library/src/").replace(/(\.d\.ts|\.js)$/, ".ts");
  if (source.endsWith(".test.ts")) return [`${path} is a test.`];
  return existsSync(join(root, source))
    ? []
    : [`${path} is left from an older build: there is no ${source}.`];
}

function danglingMap(path: string): string {
  return `${path} names a source map that is not shipped; bundlers warn of it in every consumer's build.`;
}
