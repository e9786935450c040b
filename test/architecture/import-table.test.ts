import { describe, expect, it } from "vitest";
import { checkImportTable } from "./import-table.js";
import { parseSources } from "./source.js";

const everyTarget = {
  "errors.ts": "export const all = 1;",
  "event.ts": "export const event = 1;",
  "index.ts": 'export { event } from "./event.js";',
  "signature/verifier.ts": "export const verifier = 1;",
  "signature/keys/secret.ts": "export const secret = 1;",
  "signature/signature-errors.ts": "export const codes = 1;",
  "signature/crypto/crypto-node.ts": "export const digest = 1;",
  "outbox/endpoint.ts": "export const endpoint = 1;",
  "outbox/fan-out.ts": "export const fanOut = 1;",
  "inbox/inbox-store.ts": "export const port = 1;",
  "stores/memory/inbox-store.ts": "export const store = 1;",
};

function judge(path: string, source: string): string[] {
  const sources = Object.entries({ ...everyTarget, [path]: source });
  return checkImportTable(
    parseSources(sources.map(([name, text]) => [`library/src/${name}`, text] as const)),
    {
      doors: new Set(["library/src/index.ts"]),
      aliases: new Map([["#crypto", ["library/src/signature/crypto/crypto-node.ts"]]]),
    },
  );
}

describe("an import that the table does not list is reported", () => {
  it.each([
    ["inbox/a.ts", 'import { fanOut } from "../outbox/fan-out.js";', "inbox may import signature, work"],
    ["inbox/a.ts", 'import type { fanOut } from "../outbox/fan-out.js";', "imports outbox/fan-out.ts"],
    ["inbox/a.ts", 'export * from "../outbox/fan-out.js";', "imports outbox/fan-out.ts"],
    ["inbox/a.ts", 'type T = import("../outbox/fan-out.js").T;', "imports outbox/fan-out.ts"],
    ["inbox/a.ts", 'const f = () => import("../outbox/fan-out.js");', "imports outbox/fan-out.ts"],
    ["outbox/a.ts", 'import { verifier } from "../signature/verifier.js";', "imports signature/verifier.ts"],
    ["work/a.ts", 'import { digest } from "#crypto";', "imports signature/crypto/crypto-node.ts"],
    ["delivery/a.ts", 'import { fanOut } from "../outbox/fan-out.js";', "imports outbox/fan-out.ts"],
    ["operator/a.ts", 'import { fanOut } from "../outbox/fan-out.js";', "write `import type`"],
    ["operator/a.ts", 'import { type fanOut } from "../outbox/fan-out.js";', "write `import type`"],
    ["stores/redis/a.ts", 'import { store } from "../memory/inbox-store.js";', "imports stores/memory"],
    [
      "frameworks/a.ts",
      'import { verifier } from "../signature/verifier.js";',
      "frameworks may import inbox",
    ],
    ["testing/a.ts", 'import { store } from "../stores/memory/inbox-store.js";', "imports stores/memory"],
    ["clock.ts", 'import { verifier } from "./signature/verifier.js";', "a leaf imports leaves only"],
    ["clock.ts", 'import { codes } from "./signature/signature-errors.js";', "a leaf imports leaves only"],
    ["errors.ts", 'import { verifier } from "./signature/verifier.js";', "a leaf imports leaves only"],
    ["inbox/a.ts", 'import { all } from "../errors.js";', "for doors only"],
    ["inbox/a.ts", 'import { event } from "../index.js";', "imports the door index.ts"],
    ["jobs/a.ts", 'import { verifier } from "../signature/verifier.js";', "a folder without a row"],
    ["inbox/a.ts", 'import { gone } from "./gone.js";', "not a source file of the library"],
    ["inbox/a.ts", 'import { gone } from "#gone";', 'not in "imports"'],
    ["inbox/a.ts", "const f = (name: string) => import(name);", "computed name"],
  ])("%s: %s", (path, source, problem) => {
    expect(judge(path, `\n${source}`)).toEqual([
      expect.stringMatching(new RegExp(`^library/src/${path}:2: .*${problem.replaceAll("*", "\\*")}`)),
    ]);
  });
});

describe("an import that the table lists passes", () => {
  it.each([
    ["inbox/a.ts", 'import { verifier } from "../signature/verifier.js";'],
    ["inbox/a.ts", 'import { event } from "../event.js";'],
    ["inbox/a.ts", 'import { port } from "./inbox-store.js";'],
    ["inbox/a.ts", 'import { digest } from "#crypto";'],
    ["inbox/a.ts", 'import { createHash } from "node:crypto";'],
    ["outbox/a.ts", 'import { secret } from "../signature/keys/secret.js";'],
    ["outbox/a.ts", 'import { digest } from "#crypto";'],
    ["delivery/a.ts", 'import { endpoint } from "../outbox/endpoint.js";'],
    ["operator/a.ts", 'import type { fanOut } from "../outbox/fan-out.js";'],
    ["stores/memory/a.ts", 'import { port } from "../../inbox/inbox-store.js";'],
    ["stores/memory/a.ts", 'import { store } from "./inbox-store.js";'],
    ["errors.ts", 'import { codes } from "./signature/signature-errors.js";'],
    [
      "index.ts",
      'export { all } from "./errors.js"; export { store } from "./stores/memory/inbox-store.js";',
    ],
  ])("%s: %s", (path, source) => {
    expect(judge(path, source)).toEqual([]);
  });
});
