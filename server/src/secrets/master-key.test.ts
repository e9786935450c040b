import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { masterKeyOf, newMasterKey } from "./master-key.js";

const root = mkdtempSync(join(tmpdir(), "posthorn-key-"));
let dataDir = root;

beforeEach(() => {
  dataDir = mkdtempSync(join(root, "d"));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const settings = (change: object = {}) => ({
  database: undefined,
  dataDir,
  masterKey: undefined,
  masterKeyFile: undefined,
  groupMayReadKeys: false,
  ...change,
});
const isNew = (): boolean => true;
const isOld = (): boolean => false;

it("at the first start on SQLite a key is made, for its owner alone, and it is the same at the next", () => {
  const first = masterKeyOf(settings(), isNew);
  expect(first).toMatchObject({ made: true, from: join(dataDir, "master.key") });
  expect(statSync(first.from).mode & 0o777).toBe(0o600);
  expect(masterKeyOf(settings(), isOld)).toEqual({ ...first, made: false });
});

it("a database whose key is gone gets no new one", () => {
  expect(() => masterKeyOf(settings(), isOld)).toThrow(/its master key .*master\.key is not/);
});

it("on Postgres a key must be given, and the error says how to make one", () => {
  try {
    masterKeyOf(settings({ database: "postgres://h/d" }), isNew);
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({
      exit: "usage",
      cure:
        "Make one with `posthorn config new-key`, keep it where your other secrets are, and set it as POSTHORN_MASTER_KEY, " +
        "or name a file that holds it with --master-key-file.",
    });
  }
});

it("a key may be given as a text or in a file", () => {
  const key = newMasterKey();
  const path = join(dataDir, "k");
  writeFileSync(path, `${key}\n`, { mode: 0o600 });
  const bytes = new Uint8Array(Buffer.from(key, "base64"));
  expect(masterKeyOf(settings({ masterKey: key }), isNew).bytes).toEqual(bytes);
  expect(masterKeyOf(settings({ database: "postgres://h/d", masterKeyFile: path }), isNew).bytes).toEqual(
    bytes,
  );
});

it.each([0o640, 0o604, 0o620, 0o666])("a key file of mode %o is refused", (mode) => {
  const path = join(dataDir, "k");
  writeFileSync(path, newMasterKey());
  chmodSync(path, mode);
  expect(() => masterKeyOf(settings({ masterKeyFile: path }), isNew)).toThrow(/other users/);
});

it.each(["", "short", `${"A".repeat(42)}==`, `${"!".repeat(43)}=`])(
  "a file that holds %j is no key, and is not shown",
  (text) => {
    const path = join(dataDir, "k");
    writeFileSync(path, text, { mode: 0o600 });
    expect(() => masterKeyOf(settings({ masterKeyFile: path }), isNew)).toThrow(
      /holds no master key; expected 32 bytes/,
    );
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

it("a file that was named and is not there is not made", () => {
  const masterKeyFile = join(dataDir, "none");
  expect(() => masterKeyOf(settings({ masterKeyFile }), isNew)).toThrow(/no master key in/);
});
