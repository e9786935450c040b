import type { StoreErrorCode } from "../../../store-errors.js";
import { isPosthornError, PosthornError } from "../../../posthorn-error.js";

/** Why SQLite refused, as far as it decides what becomes of the caller. */
export type Refusal =
  /** Another connection, or a query of the host on this one, is in the way; it will pass. */
  | "locked"
  | "full"
  | "read_only"
  /** The disk failed; after a commit nobody knows whether it holds. */
  | "io"
  | "constraint"
  /** A table or column is not there. */
  | "missing"
  | "closed"
  | "other";

const BY_NAME: ReadonlyMap<string, Refusal> = new Map([
  ["BUSY", "locked"],
  ["LOCKED", "locked"],
  ["FULL", "full"],
  ["READONLY", "read_only"],
  ["IOERR", "io"],
  ["CONSTRAINT", "constraint"],
]);

const BY_NUMBER: ReadonlyMap<number, Refusal> = new Map([
  [5, "locked"],
  [6, "locked"],
  [8, "read_only"],
  [10, "io"],
  [13, "full"],
  [19, "constraint"],
]);

/** Reads the error of either driver: better-sqlite3 names the code, node:sqlite numbers it. */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Error)) return "other";
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  const name = typeof code === "string" ? /^SQLITE_([A-Z]+)/.exec(code)?.[1] : undefined;
  // The upper bytes tell the kinds of one code apart: 517 is "busy" too.
  const number = typeof errcode === "number" ? errcode & 0xff : undefined;
  return BY_NAME.get(name ?? "") ?? BY_NUMBER.get(number ?? 0) ?? byMessage(error.message);
}

function byMessage(message: string): Refusal {
  if (/^no such (table|column)|has no column named/.test(message)) return "missing";
  if (/\bis not open\b/.test(message)) return "closed";
  // better-sqlite3, while the host has an iterator open on the handle.
  return message.includes("connection is busy executing a query") ? "locked" : "other";
}

/** The error that a caller of the store gets; its own errors pass as they are. */
export function storeError(error: unknown): Error {
  if (isPosthornError(error)) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const { code, message } = explain(refusalOf(cause), cause.message);
  return new PosthornError(code, message, { cause });
}

function explain(
  refusal: Refusal,
  found: string,
): { readonly code: StoreErrorCode; readonly message: string } {
  switch (refusal) {
    case "missing":
      return {
        code: "store_not_migrated",
        message: `${found}. Run \`await migrate(db)\` with \`import { migrate } from "posthorn/sqlite"\`, outside a transaction.`,
      };
    case "full":
      return {
        code: "store_unavailable",
        message: `${found} (SQLITE_FULL): nothing was written or acknowledged. Free space on the disk, or raise max_page_count; no restart is needed.`,
      };
    case "read_only":
      return {
        code: "store_client_unsupported",
        message: `${found}: every event is written. Open the handle without the read-only option, and look at the file's and its folder's permissions.`,
      };
    case "closed":
      return {
        code: "store_unavailable",
        message: `The handle is closed (${found}); keep it open while events arrive.`,
      };
    case "locked":
      return {
        code: "store_unavailable",
        message: `${found}: another connection holds the write lock. Retry.`,
      };
    case "io":
    case "constraint":
    case "other":
      return { code: "store_unavailable", message: `SQLite refused to work: ${found}.` };
  }
}
