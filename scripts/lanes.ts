/** A part of the tests that runs on its own. */
export interface Lane {
  readonly name: string;
  /** Only `npm run test:all` runs it; `npm test` runs the others. */
  readonly long?: true;
  /** A folder with a lock of its own, whose packages must not burden the root's `npm ci`. */
  readonly install?: string;
  /** Runs the lane. Arguments of the command line are added at its end: test files, or options of its tool. */
  readonly command: readonly string[];
}

const vitest = (...projects: readonly string[]): readonly string[] => [
  "vitest",
  "run",
  ...projects.flatMap((name) => ["--project", name]),
];

export const lanes: readonly Lane[] = [
  { name: "unit", command: vitest("unit", "web") },
  { name: "whole", command: vitest("whole") },
  { name: "services", command: vitest("services") },
  { name: "walk", command: vitest("walk") },
  { name: "packed", long: true, command: vitest("packed") },
  { name: "browser", long: true, command: vitest("browser") },
  { name: "crash", long: true, command: vitest("crash") },
  { name: "official", long: true, install: "test/official", command: vitest("official") },
  { name: "hosts", long: true, install: "test/hosts", command: vitest("hosts") },
  { name: "orms", long: true, install: "test/orms", command: vitest("orms") },
  { name: "consumers", long: true, command: ["tsx", "test/consumers/run.ts"] },
  { name: "proof", long: true, command: ["tsx", "scripts/prove.ts", "ci"] },
];

/** Projects of vitest that need another Node than the tests; a command of their own starts them. */
export const onRequest: readonly string[] = ["newest-orms"];

export type Choice =
  /** `rest` is handed on to each lane: test files and options of its tool. */
  { kind: "chosen"; lanes: readonly Lane[]; rest: readonly string[] } | { kind: "unknown"; message: string };

/**
 * `--lane <name>` chooses one; else a file in a lane's own folder chooses that lane, and any other the first. Without
 * either, `--all` chooses every lane, and nothing those that are not long.
 */
export function chooseLanes(all: readonly Lane[], args: readonly string[]): Choice {
  const rest = args.filter((arg) => arg !== "--all");
  const flag = rest.indexOf("--lane");
  if (flag !== -1) return chooseNamed(all, rest[flag + 1] ?? "", rest.toSpliced(flag, 2));
  if (rest.length > 0) return { kind: "chosen", lanes: ownersOf(all, rest), rest };
  const chosen = args.includes("--all") ? all : all.filter(({ long }) => long !== true);
  return { kind: "chosen", lanes: chosen, rest };
}

function chooseNamed(all: readonly Lane[], name: string, rest: readonly string[]): Choice {
  const lane = all.find((each) => each.name === name);
  if (lane) return { kind: "chosen", lanes: [lane], rest };
  const names = all.map((each) => each.name).join(", ");
  return { kind: "unknown", message: `There is no lane "${name}"; there are ${names}.` };
}

function ownersOf(all: readonly Lane[], files: readonly string[]): readonly Lane[] {
  const owners = all.filter(
    ({ install }) => install !== undefined && files.some((file) => file.includes(install)),
  );
  return owners.length > 0 ? owners : all.slice(0, 1);
}
