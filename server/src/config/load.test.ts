import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CommandFailure } from "../terminal/failure.js";
import type { Raw } from "./kinds.js";
import { loadSettings } from "./load.js";
import type { Given, Loaded } from "./load.js";
import { SETTINGS } from "./table.js";

const load = (given: Omit<Given, "workingDir">): Loaded => loadSettings({ workingDir: "/srv", ...given });
const file = (text: string): Given["file"] => ({ path: "posthorn.yaml", text });

function problemsOf(given: Omit<Given, "workingDir">): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof CommandFailure) return error.message.split("\n").slice(1);
    throw error;
  }
  return [];
}

it("without anything given, every setting has its default, and the object is frozen", () => {
  const { settings, origins } = load({});
  expect(settings).toMatchObject({
    listen: { host: "127.0.0.1", port: 8710 },
    roles: ["ingest", "dispatch", "api"],
    dev: false,
    database: undefined,
    dataDir: "/srv/posthorn-data",
    migrate: true,
    maxBodyBytes: 1_048_576,
    maxHeaderBytes: 16_384,
    requestTimeoutMs: 60_000,
    leaseMs: 30_000,
    stopTimeoutMs: 20_000,
  });
  expect(new Set(origins.values())).toEqual(new Set(["default"]));
  expect(Object.isFrozen(settings)).toBe(true);
  expect(Object.keys(settings).toSorted()).toEqual(SETTINGS.map(({ name }) => name).toSorted());
});

it("a flag wins over a variable, that over the file, and it is known from where each is", () => {
  const { settings, origins } = load({
    flags: new Map([["slots", "1"]]),
    environment: { POSTHORN_SLOTS: "2", POSTHORN_POLL: "300ms" },
    file: file("slots: 3\npoll: 400ms\nlease: 40s\n"),
  });
  expect(settings).toMatchObject({ slots: 1, pollMs: 300, leaseMs: 40_000 });
  expect([origins.get("slots"), origins.get("pollMs"), origins.get("leaseMs")]).toEqual([
    "--slots",
    "POSTHORN_POLL",
    "posthorn.yaml:3",
  ]);
});

it("an empty variable says nothing", () => {
  expect(load({ environment: { POSTHORN_SLOTS: "" } }).settings.slots).toBe(128);
});

it("all problems are told at once, each with its line and the nearest right name", () => {
  const text = [
    "# mine",
    "lisen: 127.0.0.1:9000",
    "slots: many",
    "dataDir: ./here",
    "request_timeout: 15",
    "poll: 1s",
  ];
  const given = {
    flags: new Map([["max_body", "10 MBB"]]),
    environment: { POSTHORN_DEV: "perhaps" },
    file: file(text.join("\n")),
  };
  expect(problemsOf(given)).toEqual([
    'posthorn.yaml:2: There is no setting "lisen". Did you mean "listen"?',
    'posthorn.yaml:4: There is no setting "dataDir". Did you mean "data_dir"?',
    'POSTHORN_DEV: "dev" is "perhaps"; expected true or false.',
    '--max-body: "max_body" is "10 MBB"; expected a size such as 512KiB or 1MiB, from 1KiB to 64MiB.',
    'posthorn.yaml:5: "request_timeout" is 15; expected a duration such as 250ms, 15s or 5m, from 1s to 5m.',
    'posthorn.yaml:3: "slots" is "many"; expected a whole number from 1 to 10000.',
  ]);
});

it.each([
  ["slots: 1\nslots: 2", "posthorn.yaml:2: Map keys must be unique"],
  ["- a\n- b", "posthorn.yaml:1: The file must hold lines of the form `key: value`."],
  [
    "slots: {a: 1}",
    'posthorn.yaml:1: "slots" has no value that could be used; give it one, or remove the line.',
  ],
  [
    "database:",
    'posthorn.yaml:1: "database" has no value that could be used; give it one, or remove the line.',
  ],
  [
    "hosts: &a [x]\nallow_addresses: *a",
    'posthorn.yaml:2: "allow_addresses" has an alias for its value; write the value out.',
  ],
  [
    "listen: [",
    "posthorn.yaml:1: Flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
  ["listen: !!js/function 'x'", "posthorn.yaml:1: Unresolved tag: tag:yaml.org,2002:js/function"],
])("a file like %j is refused with its line", (text, problem) => {
  expect(problemsOf({ file: file(text) })[0]).toBe(problem);
});

it("a wrong value that is overridden is told as well", () => {
  expect(problemsOf({ flags: new Map([["slots", "5"]]), file: file("slots: x") })).toHaveLength(1);
});

it("an empty file is fine", () => {
  expect(load({ file: file("# nothing\n") }).settings.slots).toBe(128);
});

it("a wrong secret is not shown", () => {
  const problems = problemsOf({
    environment: { POSTHORN_MASTER_KEY: "CANARY", POSTHORN_DATABASE: "mysql://u:CANARY@h/x" },
  });
  expect(problems).toHaveLength(2);
  expect(problems.join()).not.toContain("CANARY");
});

it("a lease that an attempt could outlive is refused", () => {
  expect(problemsOf({ environment: { POSTHORN_ATTEMPT_TIMEOUT: "25s" } })).toEqual([
    expect.stringMatching(/^POSTHORN_ATTEMPT_TIMEOUT: "lease" is 30000ms/),
  ]);
});

it("a master key and a file of it at once are refused", () => {
  const environment = { POSTHORN_MASTER_KEY: `${"A".repeat(43)}=`, POSTHORN_MASTER_KEY_FILE: "k" };
  expect(problemsOf({ environment })).toEqual([expect.stringContaining("both given")]);
});

it("a variable that is nearly a setting's is told; those of a cluster are not", () => {
  const environment = {
    POSTHORN_DATABSE: "x",
    POSTHORN_PORT: "tcp://10.0.0.1:80",
    POSTHORN_SERVICE_HOST: "10.0.0.1",
    POSTHORN_URL: "x",
  };
  expect(load({ environment }).warnings).toEqual([
    { where: "POSTHORN_DATABSE", message: "This variable means nothing. Did you mean POSTHORN_DATABASE?" },
  ]);
});

it("a part of the roles on SQLite is told, because nobody does the rest", () => {
  expect(load({ flags: new Map([["roles", "ingest"]]) }).warnings).toEqual([
    expect.objectContaining({ where: "--roles" }),
  ]);
});

describe("files of secrets", () => {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-load-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const read = (flags: Record<string, Raw>) =>
    loadSettings({ workingDir: folder, flags: new Map(Object.entries(flags)) }).settings;
  const write = (mode: number, text = "postgres://posthorn:canary@db.example.com/posthorn\n"): void => {
    writeFileSync(join(folder, "url"), text);
    chmodSync(join(folder, "url"), mode);
  };

  it("the URL of the database is read from a file that only its owner may read", () => {
    write(0o600);
    expect(read({ database_file: "url" }).database).toBe(
      "postgres://posthorn:canary@db.example.com/posthorn",
    );
    write(0o600, "mysql://db");
    expect(() => read({ database_file: "url" })).toThrow("holds no URL of a database");
    expect(() => read({ database_file: "nowhere" })).toThrow("cannot be read (ENOENT)");
    expect(() => read({ database_file: "url", database: "postgres://db/x" })).toThrow("both given");
  });

  it.skipIf(process.platform === "win32")(
    "a group may read it where the operator says so, others never",
    () => {
      write(0o640);
      expect(() => read({ database_file: "url" })).toThrow("other users");
      expect(read({ database_file: "url", group_may_read_keys: true }).database).toContain("postgres://");
      write(0o644);
      expect(() => read({ database_file: "url", group_may_read_keys: true })).toThrow("other users");
      write(0o660);
      expect(() => read({ database_file: "url", group_may_read_keys: true })).toThrow("other users");
    },
  );
});

it.each([
  ["https://hooks.example.com/", "https://hooks.example.com"],
  ["https://example.com/posthorn", "https://example.com/posthorn"],
])("a public_url %s is taken without its last slash", (given, taken) => {
  const flags = new Map<string, Raw>([["public_url", given]]);
  expect(loadSettings({ workingDir: "/", flags }).settings.publicUrl).toBe(taken);
});

it.each(["hooks.example.com", "ftp://example.com", "https://a:b@example.com", "https://example.com/?x=1"])(
  "a public_url %s is refused",
  (given) => {
    const flags = new Map<string, Raw>([["public_url", given]]);
    expect(() => loadSettings({ workingDir: "/", flags })).toThrow("public_url");
  },
);
