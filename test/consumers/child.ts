import { spawn } from "node:child_process";
import { once } from "node:events";

export interface ChildOptions {
  readonly cwd: string;
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ChildResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

// No program here computes for more than a few seconds; four minutes leave room for a busy machine.
const DEFAULT_TIMEOUT_MS = 240_000;
// A program that loops over its own error message must not fill the lane's memory.
const MAX_OUTPUT = 1_000_000;

/** Runs a program to its end. One that is still running at its deadline is killed, and the promise rejects. */
export async function runChild(
  program: string,
  args: readonly string[],
  { cwd, timeoutMs = DEFAULT_TIMEOUT_MS, env = {} }: ChildOptions,
): Promise<ChildResult> {
  const child = spawn(program, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: npm and bun start further processes, which outlive a kill of the parent alone.
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] = (output[stream] + text).slice(-MAX_OUTPUT);
    });
  }
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killGroup(child.pid);
  }, timeoutMs);
  const stop = (): void => killGroup(child.pid);
  process.once("exit", stop);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (late) throw new Error(`${program} was killed after ${timeoutMs} ms.\n${tail(output)}`);
    return { code, ...output };
  } finally {
    clearTimeout(timer);
    process.off("exit", stop);
  }
}

/** The same for a program that must succeed; its output is in the error when it does not. */
export async function mustRun(
  program: string,
  args: readonly string[],
  options: ChildOptions,
): Promise<ChildResult> {
  const result = await runChild(program, args, options);
  if (result.code === 0) return result;
  throw new Error(`${program} ${args.join(" ")} ended with ${result.code}.\n${tail(result)}`);
}

/** Kills a process and all that it started. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself, which is all that was wanted.
  }
}

function tail({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return [stdout, stderr]
    .map((text) => text.trim().slice(-4000))
    .filter((text) => text !== "")
    .join("\n");
}

// What belongs to this process and would reach into others: a loader in NODE_OPTIONS would be run by the runtimes
// that are tried, and npm's notes on the root package would turn an `npm pack` of the library into one of the root.
const OWN_VARIABLES =
  /^(NODE_OPTIONS|NODE_PATH|NODE_ENV|INIT_CWD|npm_(lifecycle|package|command|config_local_prefix|config_loglevel).*|(BUN|DENO)_.*)$/i;

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN_VARIABLES.test(name)));
}
