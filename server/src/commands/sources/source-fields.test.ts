import { readFileSync } from "node:fs";
import { systemClock } from "posthorn";
import type { SourceInput } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../../../test/cli/run-command.js";
import { checkSource } from "../../ingest/check-source.js";
import { SOURCE_SCHEMES } from "../../ingest/source-schemes.js";
import { parseOption } from "./source-fields.js";

it.each([
  ["content={timestamp}.{body}", "{timestamp}.{body}"],
  ['content="{timestamp}.{body}"', "{timestamp}.{body}"],
  ["content={body}", "{body}"],
  ["prefix=sha256=", "sha256="],
  ["toleranceS=300", 300],
  ["requireOrder=true", true],
  ['id={"json":"/id"}', { json: "/id" }],
])("--option %s is read as it is meant", (given, value) => {
  expect(Object.values(parseOption(given, undefined))).toEqual([value]);
});

it("an object that is no JSON is refused", () => {
  expect(() => parseOption("id={json:/id}", undefined)).toThrow("is no JSON");
});

describe("docs/server.md", () => {
  const page = readFileSync(new URL("../../../../docs/server.md", import.meta.url), "utf8");
  const [, section = ""] = /## Sources that are in no list\n([^]*?)\n## /.exec(page) ?? [];
  const commands = [...section.replaceAll("\\\n", " ").matchAll(/^posthorn (source add .*)$/gm)].map(
    ([, line = ""]) => line,
  );

  it("names every option of hmac and none", () => {
    const named = new Set([...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name));
    const options = ["hmac", "none"].flatMap((name) => Object.keys(SOURCE_SCHEMES.get(name)?.options ?? {}));
    expect([...new Set(options)].filter((name) => !named.has(name))).toEqual([]);
    expect(commands.length).toBeGreaterThanOrEqual(3);
  });

  it.each(commands)("has an example that works: posthorn %s", async (line) => {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    const { client, code } = await runCommand(words);
    expect(code).toBe(0);
    const [, input] = client.calls.find(([name]) => name === "sources.create") ?? [];
    expect(checkSource(input as SourceInput, systemClock).name).toBe(words[2]);
  });
});
