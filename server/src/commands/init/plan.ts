import { databasePart } from "./database-files.js";
import { missingPackages } from "./imported.js";
import type { Manifest } from "./package-json.js";
import { ownTest, versionOf } from "./project.js";
import type { Project } from "./project.js";
import { migrateFile, receiverFile } from "./receiver-files.js";
import type { Answers } from "./receiver-files.js";
import type { Surroundings } from "./surroundings.js";
import { testFile } from "./test-file.js";

/** A file to write, by its path in the project. */
export interface PlannedFile {
  readonly path: string;
  readonly text: string;
}

/** All that `posthorn init` changes. */
export interface Plan {
  readonly files: readonly PlannedFile[];
  readonly manifest: Manifest;
  /** The packages that package.json names from now on. */
  readonly added: readonly string[];
  /** The script of package.json that runs the written test. */
  readonly testScript: string;
  /** Scripts that would be written, if the project had none of its own by these names. */
  readonly taken: readonly string[];
}

/** What a plan is made on. */
export interface Ground {
  readonly manifest: Manifest;
  readonly around: Surroundings;
  /** Of Posthorn. */
  readonly version: string;
}

/** Decides what to write. */
export function planInit(project: Project, answers: Answers, { manifest, around, version }: Ground): Plan {
  const { extension, framework, folder } = project;
  const receiver = framework === "nest" ? "webhooks.module" : "receiver";
  const test = `${folder}/${project.test}.${extension}`;
  const migration = `${folder}/migrate.${extension}`;
  const files = [
    { path: `${folder}/database.${extension}`, text: databasePart(project).file },
    { path: `${folder}/${receiver}.${extension}`, text: receiverFile(project, answers) },
    { path: migration, text: migrateFile(project) },
    { path: test, text: testFile(project, answers) },
  ];
  const { scripts, testScript } = scriptsFor(project, manifest, { test, migration });
  const added = missingPackages(project, manifest, {
    version,
    versionOf: (name) => versionOf(name, manifest, around),
  });
  const dependencies = { ...manifest.dependencies, ...added.dependencies };
  const devDependencies = { ...manifest.devDependencies, ...added.devDependencies };
  return {
    files,
    testScript,
    taken: Object.keys(scripts).filter((name) => isTaken(manifest, name, scripts)),
    added: [...Object.keys(added.dependencies), ...Object.keys(added.devDependencies)],
    manifest: {
      ...manifest,
      scripts: { ...manifest.scripts, ...scripts },
      dependencies,
      ...(Object.keys(devDependencies).length === 0 ? {} : { devDependencies }),
    },
  };
}

type Scripts = Readonly<Record<string, string>>;

/** The scripts to write, and the one that runs the test, which may be the project's own. */
function scriptsFor(
  { typescript, runner, test: testName }: Project,
  manifest: Manifest,
  { test, migration }: { readonly test: string; readonly migration: string },
): { readonly scripts: Scripts; readonly testScript: string } {
  const node = typescript ? "node --import tsx" : "node";
  const scripts = { "posthorn:migrate": `${node} ${migration}` };
  const taken = ownTest(manifest);
  // A runner of the host's own finds the test by its name.
  if (runner === "vitest" && taken !== undefined && /vitest/.test(taken))
    return { scripts, testScript: "test" };
  // Where Jest is there without a script, `npm test` is left to it.
  const testScript = taken === undefined && testName === "webhooks.test" ? "test" : "test:webhooks";
  const own =
    runner === "node" ? `${node} --test ${test}` : `vitest run${taken === undefined ? "" : ` ${test}`}`;
  return { scripts: { [testScript]: own, ...scripts }, testScript };
}

/** Whether a script of this name is there that does something else; npm's empty test is nobody's work. */
function isTaken(manifest: Manifest, name: string, scripts: Scripts): boolean {
  const there = manifest.scripts?.[name];
  if (there === undefined || there === scripts[name]) return false;
  return name !== "test" || ownTest(manifest) !== undefined;
}
