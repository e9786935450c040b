import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { loadSettings } from "./load.js";
import { defaultFile, effectiveFile, withoutPassword } from "./print.js";
import { SETTINGS } from "./table.js";

it("the annotated file is in docs/configuration.md, word for word; `npm run docs` prints it", () => {
  const page = readFileSync(new URL("../../../docs/configuration.md", import.meta.url), "utf8");
  expect(page).toContain(`\`\`\`yaml\n${defaultFile()}\`\`\`\n`);
});

it("the annotated file is read as one that says nothing", () => {
  const { origins } = loadSettings({ file: { path: "x.yaml", text: defaultFile() }, workingDir: "/" });
  expect(new Set(origins.values())).toEqual(new Set(["default"]));
});

it("with its comment signs taken away, the annotated file is exactly the defaults", () => {
  const text = defaultFile().replaceAll(/^#(\w+: (?!#))/gm, "$1");
  const { settings } = loadSettings({ file: { path: "x.yaml", text }, workingDir: "/" });
  expect(settings).toEqual(loadSettings({ workingDir: "/" }).settings);
  expect(Object.keys(parse(text) as object)).toHaveLength(
    SETTINGS.filter((each) => each.default !== undefined).length,
  );
});

it("every line of the annotated file fits a page", () => {
  expect(
    defaultFile()
      .split("\n")
      .filter((line) => line.length > 120),
  ).toEqual([]);
});

it("what holds now is printed as a file that means the same, without its secrets", () => {
  const key = `${"K".repeat(43)}=`;
  const loaded = loadSettings({
    environment: {
      POSTHORN_MASTER_KEY: key,
      POSTHORN_DATABASE: "postgres://u:CANARY@h/d?sslpassword=CANARY",
    },
    flags: new Map([["allow_addresses", "10.0.0.0/8,fd00::/8"]]),
    workingDir: "/",
  });
  const text = effectiveFile(loaded);
  expect(text).not.toContain("CANARY");
  expect(text).not.toContain(key);
  expect(text).toContain("allow_addresses: [10.0.0.0/8, fd00::/8]  # --allow-addresses\n");
  expect(text).toContain('master_key: "[redacted]"  # POSTHORN_MASTER_KEY\n');
  expect(text).toContain("request_timeout: 1m  # default\n");
  expect(text).toContain("database: postgres://u:redacted@h/d?sslpassword=redacted  # POSTHORN_DATABASE\n");
});

it("a URL that cannot be read is not shown at all", () => {
  expect(withoutPassword("::::")).toBe("[redacted]");
});
