/** A part of `npm test` that runs on its own. */
export interface Lane {
  readonly name: string;
  /** A folder with a lock of its own, whose packages must not burden the root's `npm ci`. */
  readonly install?: string;
  /** Runs the lane; ends in a tool that takes test files as arguments. */
  readonly command: readonly string[];
}

export const lanes: readonly Lane[] = [
  { name: "unit", command: ["vitest", "run", "--project", "unit", "--project", "web"] },
  { name: "whole", command: ["vitest", "run", "--project", "whole"] },
  { name: "services", command: ["vitest", "run", "--project", "services"] },
  { name: "crash", command: ["vitest", "run", "--project", "crash"] },
  { name: "packed", command: ["vitest", "run", "--project", "packed"] },
  { name: "official", install: "test/official", command: ["vitest", "run", "--project", "official"] },
];

export type Choice =
  /** `rest` is handed on to each lane: test files and options of its tool. */
  { kind: "chosen"; lanes: readonly Lane[]; rest: readonly string[] } | { kind: "unknown"; message: string };

/** `--lane <name>` chooses one; else a file in a lane's own folder chooses that lane, and any other the first. */
export function chooseLanes(all: readonly Lane[], args: readonly string[]): Choice {
  const flag = args.indexOf("--lane");
  if (flag !== -1) {
    const name = args[flag + 1] ?? "";
    const lane = all.find((each) => each.name === name);
    if (lane) return { kind: "chosen", lanes: [lane], rest: args.toSpliced(flag, 2) };
    const names = all.map((each) => each.name).join(", ");
    return { kind: "unknown", message: `There is no lane "${name}"; there are ${names}.` };
  }
  if (args.length === 0) return { kind: "chosen", lanes: all, rest: [] };
  const owners = all.filter(
    ({ install }) => install !== undefined && args.some((arg) => arg.includes(install)),
  );
  return { kind: "chosen", lanes: owners.length > 0 ? owners : all.slice(0, 1), rest: args };
}
