import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replacePrivateFile } from "./secrets/private-file.js";

/** Where the CLI on the same machine finds the server's address and a token. */
export function cliFilePath(dataDir: string): string {
  return join(dataDir, "cli.json");
}

/** Writes the address, with the token where it is known just now; a token that is there already is kept. */
export function writeCliFile(dataDir: string, url: string, token: string | undefined): void {
  const path = cliFilePath(dataDir);
  const kept = token ?? writtenToken(path);
  // Without a token the file would say nothing that the CLI does not assume.
  if (kept !== undefined) replacePrivateFile(path, `${JSON.stringify({ url, token: kept }, undefined, 2)}\n`);
}

function writtenToken(path: string): string | undefined {
  try {
    const { token } = Object(JSON.parse(readFileSync(path, "utf8"))) as { readonly token?: unknown };
    return typeof token === "string" ? token : undefined;
  } catch {
    // It is not there, or somebody has broken it: the CLI says what to do.
    return undefined;
  }
}
