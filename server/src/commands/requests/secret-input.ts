import { readFileSync } from "node:fs";
import { CommandFailure } from "../../terminal/failure.js";
import type { CommandContext } from "../command-context.js";
import { gather } from "../define-command.js";
import type { Flag } from "../define-command.js";

export interface SecretOptions {
  readonly secret?: readonly string[];
  readonly secretFile?: readonly string[];
}

export const SECRET_FLAGS: readonly Flag[] = [
  {
    form: "--secret <secret>",
    says: "A secret; several times during a rotation, the new one first. Others may see it in the list of processes.",
    parse: gather,
  },
  { form: "--secret-file <path>", says: "The same from a file; - is the standard input.", parse: gather },
];

/** The secrets of flags and files; empty where none was given. */
export async function secretsOf(options: SecretOptions, context: CommandContext): Promise<readonly string[]> {
  const secrets = [...(options.secret ?? [])];
  for (const path of options.secretFile ?? []) secrets.push(await secretOfFile(path, context));
  return secrets;
}

/**
 * The same, or POSTHORN_SECRET, for commands that sign or verify. Commands that store a secret do not use this: a forgotten
 * variable would change it.
 */
export async function signingSecretsOf(
  options: SecretOptions,
  context: CommandContext,
): Promise<readonly string[]> {
  const secrets = await secretsOf(options, context);
  const { POSTHORN_SECRET = "" } = context.environment;
  return secrets.length === 0 && POSTHORN_SECRET !== "" ? [POSTHORN_SECRET] : secrets;
}

async function secretOfFile(path: string, context: CommandContext): Promise<string> {
  const text = new TextDecoder().decode(await readBytes(path, context)).replace(/\r?\n$/, "");
  if (text !== "") return text;
  throw new CommandFailure("usage", `${path === "-" ? "The standard input" : path} holds no secret.`);
}

/** The bytes of a file, or of the standard input where the path is `-`. */
export async function readBytes(path: string, context: CommandContext): Promise<Uint8Array> {
  if (path === "-") return context.terminal.readInput();
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "is not there" : `cannot be read (${code ?? String(error)})`;
    throw new CommandFailure("usage", `The file ${path} ${why}.`, { code: "file_unreadable", cause: error });
  }
}
