export type Command =
  | { readonly kind: "list" }
  | { readonly kind: "run"; readonly suite: string; readonly quick: boolean; readonly json?: string }
  | { readonly kind: "mistake"; readonly message: string };

/** Reads `<suite> [--quick] [--json FILE]`; nothing at all, or `--help`, asks for the list. */
export function parseArguments(args: readonly string[], suites: readonly string[]): Command {
  if (args.length === 0 || args.includes("--help")) return { kind: "list" };
  const found: { suite?: string; quick: boolean; json?: string } = { quick: false };
  const left = args.flatMap((arg) => (arg.startsWith("--json=") ? ["--json", arg.slice(7)] : [arg]));
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    if (arg === "--quick") {
      found.quick = true;
    } else if (arg === "--json") {
      const file = left.shift();
      if (!file || file.startsWith("-")) return mistake("--json needs a file name after it");
      found.json = file;
    } else if (arg.startsWith("-")) {
      return mistake(`unknown flag ${arg}`);
    } else if (found.suite !== undefined) {
      return mistake(`one suite at a time: found ${found.suite} and ${arg}`);
    } else {
      found.suite = arg;
    }
  }
  const { suite, ...rest } = found;
  if (suite === undefined) return mistake("no suite named");
  if (!suites.includes(suite)) return mistake(`unknown suite ${suite}`);
  return { kind: "run", suite, ...rest };
}

function mistake(message: string): Command {
  return { kind: "mistake", message };
}
