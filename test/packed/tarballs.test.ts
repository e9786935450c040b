import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { root } from "./checkout.js";
import { mustRun } from "./run-program.js";

async function filesIn(tarball: string): Promise<readonly string[]> {
  const { out } = await mustRun("tar", ["-tzf", tarball], { cwd: root });
  return out
    .trim()
    .split("\n")
    .map((path) => path.replace("package/", ""))
    .toSorted();
}

/** The modules of a workspace, without their endings. Declarations of what a host may have installed make no module. */
function modulesOf(workspace: string): readonly string[] {
  return sourcesOf(workspace)
    .filter((path) => /(?<!\.test|\.d)\.ts$/.test(path))
    .map((path) => path.slice(0, -".ts".length));
}

function sourcesOf(workspace: string): readonly string[] {
  return readdirSync(join(root, workspace, "src"), { recursive: true }).map(String);
}

const ALWAYS = ["LICENSE", "README.md", "package.json"];

it("the library's tarball holds its command, its modules with their types, and its migrations", async () => {
  const migrations = sourcesOf("library").filter((path) => /migrations[\\/].*\.sql$/.test(path));
  expect(migrations.length).toBeGreaterThan(0);
  expect(await filesIn(inject("tarballs").library)).toEqual(
    [
      ...ALWAYS,
      "bin/posthorn.mjs",
      ...modulesOf("library").flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`]),
      ...migrations.map((path) => `src/${path}`),
    ].toSorted(),
  );
});

it("the server's tarball holds its modules, the migrations among them, and the built dashboard", async () => {
  const all = await filesIn(inject("tarballs").server);
  const files = all.filter((path) => !path.startsWith("dist/dashboard/"));
  expect(files).toEqual([...ALWAYS, ...modulesOf("server").map((name) => `dist/${name}.js`)].toSorted());
  const dashboard = all
    .filter((path) => !files.includes(path))
    .map((path) => path.replace(/-[\w-]{8}\./, "-<hash>."));
  expect(dashboard).toEqual([
    "dist/dashboard/assets/icons-<hash>.svg",
    "dist/dashboard/assets/index-<hash>.js",
    "dist/dashboard/assets/logo-<hash>.svg",
    "dist/dashboard/assets/rate-chart-<hash>.js",
    "dist/dashboard/assets/style-<hash>.css",
    "dist/dashboard/index.html",
  ]);
  expect(files).toContain("dist/store/sqlite/migrations.js");
  expect(files).toContain("dist/store/postgres/migrations.js");
});

it.each(["library", "server"] as const)(
  "the README in the tarball of the %s links to pages, not to files that it lacks",
  async (name) => {
    const { out } = await mustRun("tar", ["-xzOf", inject("tarballs")[name], "package/README.md"], {
      cwd: root,
    });
    const links = [...out.matchAll(/\]\(([^)]*)\)/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(10);
    expect(
      links.filter(
        (link) => !/^(https:\/\/github\.com\/posthorn\/posthorn\/(blob|raw)\/main\/\w|#)/.test(link),
      ),
    ).toEqual([]);
  },
);
