import { spawn } from "node:child_process";
import { once } from "node:events";

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** After which it is killed; a program that hangs would outlive its test. */
  readonly timeoutMs?: number;
}

export interface ProgramResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

// What npm and the test runner tell their children, and a person's shell does not have.
const NOT_A_PERSONS =
  /^(npm_.*|NODE_OPTIONS|NODE_ENV|NODE_PATH|INIT_CWD|VITEST.*|FORCE_COLOR|POSTHORN_.*|CI)$/i;

/** The variables of a person at a terminal, with some more. */
export function personsEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !NOT_A_PERSONS.test(name));
  return { ...Object.fromEntries(own), ...more };
}

/** Runs a program to its end. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, input = "", timeoutMs }: ProgramOptions,
): Promise<ProgramResult> {
  const child = spawn(program, args, {
    cwd,
    env: personsEnvironment(env),
    stdio: "pipe",
    killSignal: "SIGKILL",
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => undefined).end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

/** The same for a program that must succeed. */
export async function mustRun(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramResult> {
  const result = await runProgram(program, args, options);
  if (result.code === 0) return result;
  throw new Error(`${program} ${args.join(" ")} ended with ${result.code}:\n${result.out}${result.err}`);
}
