import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The options of tsconfig.json that decide which files compile. In lower case, as TypeScript compares them. */
export interface Compiler {
  readonly module: string | undefined;
  readonly moduleResolution: string | undefined;
  readonly target: string | undefined;
  readonly verbatimModuleSyntax: boolean;
}

type Options = Readonly<Record<string, unknown>>;

/** Reads a tsconfig.json and what it extends; undefined where it decides nothing. */
export function readCompiler(path: string): Compiler | undefined {
  const options = optionsOf(path, new Set());
  if (options === undefined) return undefined;
  const word = (name: string): string | undefined => {
    const value = options[name];
    return typeof value === "string" ? value.toLowerCase() : undefined;
  };
  return {
    module: word("module"),
    moduleResolution: word("moduleResolution"),
    target: word("target"),
    verbatimModuleSyntax: options["verbatimModuleSyntax"] === true,
  };
}

function optionsOf(path: string, seen: Set<string>): Options | undefined {
  // Files that extend each other would be read for ever; tsc refuses them.
  if (seen.has(path)) return undefined;
  seen.add(path);
  const config = parse(path);
  if (config === undefined) return undefined;
  const named = [config["extends"]].flat().filter((name) => typeof name === "string");
  const bases = named.map((name) => baseOf(name, dirname(path)));
  const inherited = bases.map((base) => (base === undefined ? undefined : optionsOf(base, new Set(seen))));
  const own = config["compilerOptions"] as Options | undefined;
  // What a base says that is not found here is unknown, and so is what a file of references leaves to others.
  const leavesOut = inherited.includes(undefined) || Array.isArray(config["references"]);
  const options = Object.assign({}, ...inherited, own) as Options;
  return leavesOut && options["module"] === undefined ? undefined : options;
}

/** A base is a relative file, whose ending may be left out, or one of a package. */
function baseOf(name: string, folder: string): string | undefined {
  const isFile = name.startsWith(".") || name.startsWith("/");
  const path = isFile ? resolve(folder, name) : join(folder, "node_modules", name);
  return [path, `${path}.json`, join(path, "tsconfig.json")].find(
    (candidate) => candidate.endsWith(".json") && existsSync(candidate),
  );
}

const STRING = String.raw`("(?:\\.|[^"\\])*")`;
const COMMENT = new RegExp(String.raw`${STRING}|//[^\n]*|/\*[\s\S]*?\*/`, "g");
const LAST_COMMA = new RegExp(String.raw`${STRING}|,(?=\s*[}\]])`, "g");

const keepStrings = (_: string, string?: string): string => string ?? "";

/** Undefined for a file that is not there or that tsc would refuse too: tsc says better what is wrong with it. */
function parse(path: string): Options | undefined {
  try {
    const text = readFileSync(path, "utf8").replace("\uFEFF", "");
    const value: unknown = JSON.parse(
      text.replaceAll(COMMENT, keepStrings).replaceAll(LAST_COMMA, keepStrings),
    );
    return typeof value === "object" && value !== null ? (value as Options) : undefined;
  } catch {
    return undefined;
  }
}
