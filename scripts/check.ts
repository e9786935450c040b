// npm run check: what must hold before a commit, in under a minute and without services.
import { runCommand } from "./run-command.js";

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly hint: string;
}

const steps: readonly Step[] = [
  { name: "format", command: ["oxfmt", "--check"], hint: "`npm run format` mends it." },
  {
    name: "build",
    command: ["npm", "run", "--silent", "build"],
    hint: "the library's source does not compile.",
  },
  // After the build: in a fresh clone, rules that ask for types find none of `posthorn` before it.
  { name: "lint", command: ["oxlint"], hint: "`npm run lint -- --fix` mends some; the rest names its rule." },
  {
    name: "types",
    command: ["tsc", "-p", "tsconfig.json"],
    hint: "tests, scripts or examples do not compile.",
  },
  {
    name: "unit",
    command: ["vitest", "run", "--project", "unit", "--project", "web"],
    hint: "`npx vitest <file>` runs one file again at each change.",
  },
];

function main(): void {
  for (const { name, command, hint } of steps) {
    const startedAt = performance.now();
    const succeeded = runCommand(command);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`${succeeded ? "✓" : "✗"} ${name} (${seconds} s)\n`);
    if (succeeded) continue;
    process.stderr.write(`\n${name} failed: ${hint}\n`);
    process.exitCode = 1;
    return;
  }
}

main();
