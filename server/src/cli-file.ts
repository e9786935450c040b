import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replacePrivateFile } from "./secrets/private-file.js";
import { CommandFailure } from "./terminal/failure.js";

export interface CliFile {
  readonly url: string;
  readonly token: string;
}

/** Where the CLI on the same machine finds the server's address and a token. */
export function cliFilePath(dataDir: string): string {
  return join(dataDir, "cli.json");
}

/** Writes the address and the token. Without a token, the one in the file is kept. */
export function writeCliFile(dataDir: string, url: string, token: string | undefined): void {
  const path = cliFilePath(dataDir);
  const kept = token ?? writtenToken(path);
  // Without a token, the file would hold nothing but the CLI's default address.
  if (kept !== undefined) replacePrivateFile(path, `${JSON.stringify({ url, token: kept }, undefined, 2)}\n`);
}

function writtenToken(path: string): string | undefined {
  try {
    const { token } = parsed(readFileSync(path, "utf8"));
    return typeof token === "string" ? token : undefined;
  } catch {
    // The file is missing or broken; the CLI reports a broken one.
    return undefined;
  }
}

/** Reads what `posthorn serve` wrote; undefined where there is no file. */
export function readCliFile(dataDir: string): CliFile | undefined {
  const file = cliFilePath(dataDir);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CommandFailure("failed", `${file} cannot be read: ${(error as Error).message}`, {
      cure: "Run it as the user who runs the server, or give --url and --token.",
      cause: error,
    });
  }
  const { url, token } = parsed(text);
  if (typeof url === "string" && typeof token === "string") return { url, token };
  throw new CommandFailure("failed", `${file} holds no address and token.`, {
    cure: "Remove it and start `posthorn serve` again, or give --url and --token.",
  });
}

function parsed(text: string): { readonly url?: unknown; readonly token?: unknown } {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}
