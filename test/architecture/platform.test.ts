import { describe, expect, it } from "vitest";
import {
  checkEgress,
  checkEngineFlags,
  checkNodeGlobals,
  checkNodeSides,
  checkPlatformImports,
} from "./platform.js";
import { parseSources } from "./source.js";

const parse = (path: string, text: string) => parseSources([[`library/src/${path}`, text]]);

describe("an import of the platform stays where the table allows it", () => {
  it.each([
    ["signature/verifier.ts", 'import { createHmac } from "node:crypto";'],
    ["inbox/a.ts", 'import type { IncomingMessage } from "node:http";'],
    ["stores/postgres/a.ts", 'import type { Pool } from "pg";'],
    ["inbox/a.ts", 'const load = () => import("undici");'],
  ])("reported: %s: %s", (path, text) => {
    expect(checkPlatformImports(parse(path, text))).toEqual([expect.stringContaining(`${path}:1: imports`)]);
  });

  it.each([
    ["signature/crypto/crypto-node.ts", 'import { createHmac } from "node:crypto";'],
    ["testing/fake-endpoint.ts", 'import { createServer } from "node:http";'],
    ["delivery/egress/create-egress.ts", 'const load = () => import("undici");'],
    ["inbox/a.ts", 'import { a } from "./a.js"; import { b } from "#crypto";'],
  ])("passes: %s: %s", (path, text) => {
    expect(checkPlatformImports(parse(path, text))).toEqual([]);
  });
});

describe("a global of Node stays where the table allows it", () => {
  it.each([
    "Buffer.from([])",
    "process.env",
    'require("x")',
    "globalThis.process",
    "let a: Buffer;",
    "({ process })",
    "typeof process",
    "a[process]",
    "`${__dirname}`",
  ])("reported: %s", (text) => {
    expect(checkNodeGlobals(parse("inbox/a.ts", text))).toEqual([
      expect.stringContaining("which only Node has"),
    ]);
  });

  it.each([
    "a.process()",
    "({ process: 1 })",
    "class A { process() {} }",
    "interface A { process: 1 }",
    '"Buffer"',
  ])("a mere name passes: %s", (text) => {
    expect(checkNodeGlobals(parse("inbox/a.ts", text))).toEqual([]);
  });

  it("a Node-bound file may use them", () => {
    expect(checkNodeGlobals(parse("signature/crypto/crypto-node.ts", "Buffer.from([])"))).toEqual([]);
  });
});

describe("a Node side is reached through its alias", () => {
  it("an import by its own name is reported, of types too", () => {
    const text = 'import type { Hmac } from "./hmac-node.js";';
    expect(checkNodeSides(parse("signature/verify.ts", text))).toEqual([
      expect.stringContaining("signature/verify.ts:1: imports ./hmac-node.js"),
    ]);
  });

  it("the alias passes, and so does another Node side", () => {
    expect(checkNodeSides(parse("signature/verify.ts", 'import { answer } from "#crypto";'))).toEqual([]);
    expect(
      checkNodeSides(parse("signature/crypto/crypto-node.ts", 'import { hmac } from "./hmac-node.js";')),
    ).toEqual([]);
  });
});

describe("requests leave through one door", () => {
  it.each(['fetch("x")', 'globalThis.fetch("x")', "const send = fetch;", 'new WebSocket("x")'])(
    "reported: %s",
    (text) => {
      expect(checkEgress(parse("testing/a.ts", text))).toEqual([
        expect.stringContaining("delivery's transport"),
      ]);
    },
  );

  it("a method of that name passes, and so does the client", () => {
    expect(checkEgress(parse("frameworks/a.ts", "app.fetch(request)"))).toEqual([]);
    expect(checkEgress(parse("client/a.ts", 'fetch("x")'))).toEqual([]);
  });
});

describe("V8 runs as Node starts it", () => {
  it.each([
    'setFlagsFromString("--expose-gc")',
    'v8.setFlagsFromString("--expose-gc")',
    'v8["setFlagsFromString"]("--expose-gc")',
    'const { setFlagsFromString: set } = await import("node:v8");',
  ])("reported: %s", (text) => {
    expect(checkEngineFlags(parseSources([["server/src/a.ts", text]]))).toEqual([
      "server/src/a.ts:1: uses setFlagsFromString; the process runs on Node's defaults.",
    ]);
  });

  it("an import of it is reported", () => {
    const text = 'import { setFlagsFromString } from "node:v8";';
    expect(checkEngineFlags(parse("testing/a.ts", text))).not.toEqual([]);
  });

  it("a reading of V8's figures passes", () => {
    const text = 'import { getHeapStatistics } from "node:v8"; getHeapStatistics();';
    expect(checkEngineFlags(parse("testing/a.ts", text))).toEqual([]);
  });
});
