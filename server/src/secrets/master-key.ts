import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/settings.js";
import { CommandFailure } from "../terminal/failure.js";
import { createPrivateFile, isLoose } from "./private-file.js";

const KEY_FILE = "master.key";

type KeySettings = Pick<
  Settings,
  "database" | "dataDir" | "masterKey" | "masterKeyFile" | "groupMayReadKeys"
>;

export interface MasterKey {
  readonly bytes: Uint8Array;
  /** The file, flag or variable that it came from, for messages. */
  readonly from: string;
  /** It was made just now. */
  readonly made: boolean;
}

/** A new key, as text. */
export function newMasterKey(): string {
  return randomBytes(32).toString("base64");
}

/** Where the key is read from, if it is from a file. */
export function masterKeyPath({
  masterKey,
  masterKeyFile,
  dataDir,
  database,
}: KeySettings): string | undefined {
  if (masterKey !== undefined) return undefined;
  if (masterKeyFile !== undefined) return masterKeyFile;
  return database === undefined ? join(dataDir, KEY_FILE) : undefined;
}

/**
 * The key of these settings. On SQLite it is made at the first start. For a database that exists, a new key would only hide
 * that the old one is lost.
 */
export function masterKeyOf(settings: KeySettings, isNew: () => boolean): MasterKey {
  if (settings.masterKey !== undefined) {
    return { bytes: keyBytes(settings.masterKey, "master_key"), from: "the setting master_key", made: false };
  }
  const path = masterKeyPath(settings);
  if (path === undefined) throw keyMissing();
  const mayMake = settings.masterKeyFile === undefined;
  if (!existsSync(path) && !mayMake) throw fileMissing(path);
  if (!existsSync(path) && !isNew()) throw keyLost(path);
  const made = !existsSync(path) && createPrivateFile(path, `${newMasterKey()}\n`);
  return { bytes: readKey(path, settings.groupMayReadKeys), from: path, made };
}

function readKey(path: string, groupMayRead: boolean): Uint8Array {
  let text: string;
  try {
    if (isLoose(path, { groupMayRead })) throw looseKey(path);
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new CommandFailure("failed", `The master key ${path} cannot be read (${code ?? "unknown"}).`, {
      code: "master_key_unreadable",
      cure: "Let the user that runs Posthorn own the file.",
      cause,
    });
  }
  return keyBytes(text.trim(), path);
}

function keyBytes(text: string, from: string): Uint8Array {
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
  if (bytes.length === 32) return new Uint8Array(bytes);
  throw new CommandFailure("failed", `${from} holds no master key; expected 32 bytes in base64.`, {
    code: "master_key_malformed",
    cure: "`posthorn config new-key` prints a new one. A database that is in use needs the key that it had before.",
  });
}

function keyMissing(): CommandFailure {
  return new CommandFailure("usage", "On Postgres a master key must be given, the same to every node.", {
    code: "master_key_missing",
    cure:
      "Make one with `posthorn config new-key`, keep it where your other secrets are, and set it as POSTHORN_MASTER_KEY, " +
      "or name a file that holds it with --master-key-file.",
  });
}

function fileMissing(path: string): CommandFailure {
  return new CommandFailure("usage", `There is no master key in ${path}.`, {
    code: "master_key_missing",
    cure: `Make one with: (umask 077; posthorn config new-key > ${path})`,
  });
}

function keyLost(path: string): CommandFailure {
  return new CommandFailure("failed", `The database is there, but its master key ${path} is not.`, {
    code: "master_key_missing",
    cure:
      "Put the file back from your copy. If it is lost, the secrets of sources and endpoints are too: make a new one with " +
      `(umask 077; posthorn config new-key > ${path}) and set them all again.`,
  });
}

function looseKey(path: string): CommandFailure {
  return new CommandFailure("failed", `The master key ${path} can be read or changed by other users.`, {
    code: "master_key_loose",
    cure: `chmod 600 ${path}, or 640 with the setting group_may_read_keys, where a group has to read it.`,
  });
}
