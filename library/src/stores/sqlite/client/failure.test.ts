import { describe, expect, it } from "vitest";
import { PosthornError } from "../../../posthorn-error.js";
import { refusalOf, storeError } from "./failure.js";

const better = (code: string, message = "refused") => Object.assign(new Error(message), { code });
const node = (errcode: number, message = "refused") =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });

describe("refusalOf", () => {
  it.each([
    [better("SQLITE_BUSY"), node(5), "locked"],
    [better("SQLITE_BUSY_SNAPSHOT"), node(517), "locked"],
    [better("SQLITE_LOCKED_SHAREDCACHE"), node(262), "locked"],
    [better("SQLITE_FULL"), node(13), "full"],
    [better("SQLITE_READONLY_DBMOVED"), node(1032), "read_only"],
    [better("SQLITE_IOERR_FSYNC"), node(1034), "io"],
    [better("SQLITE_CONSTRAINT_FOREIGNKEY"), node(787), "constraint"],
    [better("SQLITE_ERROR", "no such table: posthorn_inbox"), node(1, "no such table: t"), "missing"],
    [better("SQLITE_ERROR", "table t has no column named x"), node(1, "no such column: x"), "missing"],
    [new TypeError("The database connection is not open"), new Error("database is not open"), "closed"],
    [better("SQLITE_CORRUPT"), node(11), "other"],
  ])("reads %s and its twin of node:sqlite alike", (ofBetter, ofNode, refusal) => {
    expect([refusalOf(ofBetter), refusalOf(ofNode)]).toEqual([refusal, refusal]);
  });

  it("takes an iterator that the host left open for a lock that will pass", () => {
    expect(refusalOf(new TypeError("This database connection is busy executing a query"))).toBe("locked");
  });

  it("makes nothing of what is no error", () => {
    expect([refusalOf(undefined), refusalOf("SQLITE_BUSY"), refusalOf({ errcode: 5 })]).toEqual(
      Array(3).fill("other"),
    );
  });
});

describe("storeError", () => {
  it("lets errors of our own pass as they are", () => {
    const error = new PosthornError("dedup_busy", "wait");
    expect(storeError(error)).toBe(error);
  });

  it.each([
    [better("SQLITE_ERROR", "no such table: posthorn_inbox"), "store_not_migrated", /await migrate\(db\)/],
    [better("SQLITE_FULL", "database or disk is full"), "store_unavailable", /nothing was .*acknowledged/],
    [
      better("SQLITE_READONLY", "attempt to write a readonly database"),
      "store_client_unsupported",
      /read-only/,
    ],
    [new TypeError("The database connection is not open"), "store_unavailable", /closed/],
    [better("SQLITE_BUSY", "database is locked"), "store_unavailable", /write lock/],
    [better("SQLITE_CORRUPT", "database disk image is malformed"), "store_unavailable", /malformed/],
  ])("says what to do about %s", (error, code, message) => {
    expect(storeError(error)).toMatchObject({ code, cause: error });
    expect(storeError(error).message).toMatch(message);
  });
});
