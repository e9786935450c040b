import { databasePart } from "./database-files.js";
import { IMPORTED } from "./project.js";
import type { Manifest, Project } from "./project.js";
import { migrateFile, receiverFile } from "./receiver-files.js";
import type { Answers } from "./receiver-files.js";
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
}

/** What npm writes for a project without tests. */
const NO_TEST = /no test specified/;
const TSX = "^4.20.0";

/** Decides what to write. */
export function planInit(
  project: Project,
  answers: Answers,
  around: { manifest: Manifest; version: string; folder: string },
): Plan {
  const { extension, framework } = project;
  const { folder } = around;
  const receiver = framework === "nest" ? "webhooks.module" : "receiver";
  const files = [
    { path: `${folder}/database.${extension}`, text: databasePart(project).file },
    { path: `${folder}/${receiver}.${extension}`, text: receiverFile(project, answers) },
    { path: `${folder}/migrate.${extension}`, text: migrateFile(project) },
    { path: `${folder}/webhooks.test.${extension}`, text: testFile(project, answers) },
  ];
  const added = missingPackages(project, around);
  return { files, added: Object.keys(added.all), manifest: manifestWith(project, around, added) };
}

interface Added {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly all: Readonly<Record<string, string>>;
}

function missingPackages(
  { typescript, framework, database }: Project,
  { manifest, version }: { readonly manifest: Manifest; readonly version: string },
): Added {
  const known = { ...manifest.dependencies, ...manifest.devDependencies };
  const unlessKnown = (wanted: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(wanted).filter(([name]) => !Object.hasOwn(known, name)));
  const [framed, stored] = [IMPORTED[framework], IMPORTED[database]];
  const dependencies = unlessKnown({ posthorn: `^${version}`, ...framed.packages, ...stored.packages });
  // Node before 23.6 runs no TypeScript, and no Node runs decorators.
  const devDependencies = typescript ? unlessKnown({ tsx: TSX, ...framed.types, ...stored.types }) : {};
  return { dependencies, devDependencies, all: { ...dependencies, ...devDependencies } };
}

function manifestWith(
  { typescript, runner, extension }: Project,
  { manifest, folder }: { readonly manifest: Manifest; readonly folder: string },
  { dependencies, devDependencies }: Added,
): Manifest {
  const node = typescript ? "node --import tsx" : "node";
  const test = `${folder}/webhooks.test.${extension}`;
  const own = runner === "vitest" ? "vitest run" : `${node} --test ${test}`;
  const taken = manifest.scripts?.["test"];
  const name = taken === undefined || NO_TEST.test(taken) ? "test" : "test:webhooks";
  const scripts = {
    ...manifest.scripts,
    // A runner of the host's own finds the test by its name.
    ...(taken !== undefined && /vitest/.test(taken) ? {} : { [name]: own }),
    "posthorn:migrate": `${node} ${folder}/migrate.${extension}`,
  };
  return {
    ...manifest,
    scripts,
    dependencies: { ...manifest.dependencies, ...dependencies },
    ...(Object.keys({ ...manifest.devDependencies, ...devDependencies }).length === 0
      ? {}
      : { devDependencies: { ...manifest.devDependencies, ...devDependencies } }),
  };
}
