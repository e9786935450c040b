import { isPosthornError, problemOf } from "posthorn/client";

/** Exit codes. Printed into docs/cli.md: scripts depend on the numbers. */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  refused: 4,
  interrupted: 130,
} as const;

export type ExitName = keyof typeof EXIT_CODES;

/** A command that cannot go on: what was found, and what to do about it. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exit: ExitName;
  readonly cure: string | undefined;
  /** Lower snake case, for `--json`. */
  readonly code: string;
  /** Whether the failure is already printed, so that only the exit code is left. */
  readonly told: boolean;

  constructor(
    exit: ExitName,
    message: string,
    options: {
      readonly cure?: string;
      readonly code?: string;
      readonly cause?: unknown;
      readonly told?: boolean;
    } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.told = options.told ?? false;
    this.exit = exit;
    this.cure = options.cure;
    this.code = options.code ?? exit;
  }
}

/** The printed form of any error. */
export interface ToldFailure {
  readonly exit: ExitName;
  readonly code: string;
  readonly message: string;
  readonly cure: string | undefined;
}

/** Explains any error and finds its exit code. Never throws. */
export function toldFailure(error: unknown): ToldFailure {
  if (error instanceof CommandFailure) {
    const { exit, code, message, cure } = error;
    return { exit, code, message, cure };
  }
  if (isPosthornError(error)) {
    const problem = problemOf(error);
    const exit = exitOf(error.code);
    const code = problem?.code ?? error.code;
    return {
      exit,
      code,
      message: error.message,
      cure: DATABASE_AWAY.has(code)
        ? problem === undefined
          ? OWN_DATABASE_CURE
          : DATABASE_CURE
        : (fieldCure(problem?.field) ?? cureOf(exit)),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exit: "failed", code: "unexpected", message, cure: "Run it again with --debug to see where." };
}

/** The server answered: another server would find the same database. */
const DATABASE_AWAY: ReadonlySet<string> = new Set(["store_unavailable", "not_ready"]);
const DATABASE_CURE =
  "The server runs, and its database does not. The server's log and `posthorn doctor`, on its machine, say more.";

/** The command opened the database itself: no server was asked. */
const OWN_DATABASE_CURE = "`posthorn doctor`, with the same settings, says more.";

/** The API names its parameters; people look for flags. */
function fieldCure(field: string | undefined): string | undefined {
  if (field === "tenant") return "Name it with --tenant.";
  return field?.startsWith("options.") === true
    ? `Give it with --option ${field.slice("options.".length)}=VALUE; docs/server.md lists the options.`
    : undefined;
}

/** Says where else to look, where what was named is not there. */
export async function orLook<T>(asked: Promise<T>, cure: string): Promise<T> {
  return asked.catch((error: unknown) => {
    const { exit, code, message } = toldFailure(error);
    if (code !== "not_found") throw error;
    throw new CommandFailure(exit, message, { code, cure, cause: error });
  });
}

function exitOf(code: string): ExitName {
  switch (code) {
    case "api_unreachable":
    case "api_unavailable":
      return "unreachable";
    case "api_unauthorised":
      return "refused";
    case "api_option_invalid":
    // The user's input is wrong; no server was asked.
    case "option_invalid":
    case "source_invalid":
    case "secret_malformed":
    case "secret_missing":
      return "usage";
    default:
      return "failed";
  }
}

function cureOf(exit: ExitName): string | undefined {
  switch (exit) {
    case "unreachable":
      return "Start a server with `posthorn serve`, or name its address with --url or POSTHORN_URL.";
    case "refused":
      return "Give a token that may do this with --token or POSTHORN_TOKEN; `posthorn token create` makes one, with --offline where none is left.";
    case "ok":
    case "failed":
    case "usage":
    case "interrupted":
      return undefined;
  }
}
