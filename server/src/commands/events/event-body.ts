import { InvalidArgumentError } from "commander";
import { CommandFailure } from "../../terminal/failure.js";
import type { CommandContext } from "../command-context.js";
import { readBytes } from "../requests/secret-input.js";

/** Where the body of an event comes from. */
export interface BodyOptions {
  readonly data?: unknown;
  readonly bodyFile?: string;
  readonly stdin?: boolean;
}

/** Reads JSON of a flag. */
export function parseData(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InvalidArgumentError(`It is no JSON: ${(error as Error).message}`);
  }
}

/** The exact bytes that were given; undefined where none were. */
export async function bodyOf(options: BodyOptions, context: CommandContext): Promise<Uint8Array | undefined> {
  const given = [options.data !== undefined, options.bodyFile !== undefined, options.stdin === true];
  if (given.filter(Boolean).length > 1) {
    throw new CommandFailure(
      "usage",
      "The body is given twice: --data, --body-file and --stdin exclude each other.",
    );
  }
  if (options.stdin === true) return readBytes("-", context);
  return options.bodyFile === undefined ? undefined : readBytes(options.bodyFile, context);
}
