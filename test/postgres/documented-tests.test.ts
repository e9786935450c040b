import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { freshDatabase } from "../services.js";

// The programs under "Test your handlers" of docs/receiving.md print what their last comment says.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/receiving.md", import.meta.url), "utf8");
const blocks = [...page.slice(page.indexOf("## Test your handlers")).matchAll(/```ts\n([^]*?)```/g)].map(
  ([, text = ""]) => text,
);
const url = await freshDatabase();

it.each([
  ["Postgres", "posthorn/postgres"],
  ["SQLite", "posthorn/sqlite"],
])(
  "the documented test of a handler on %s prints what it says",
  async (_database, door) => {
    const program = blocks.find((text) => text.includes(door)) ?? "";
    const promised = /console\.log\(verdict.*\/\/ (.*)/.exec(program)?.[1];
    expect(promised).toMatch(/^applied/);
    const own = program.replace("new Pool({", "new Pool({ connectionString: process.env.DATABASE_URL,");
    expect(await printed(own)).toBe(`${promised}\n`);
  },
  60_000,
);

function printed(program: string): Promise<string> {
  const env = { ...process.env, DATABASE_URL: url };
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { cwd: root, env });
  let said = "";
  const hear = (data: Buffer): void => void (said += data.toString());
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  return new Promise((resolve) => child.on("exit", () => resolve(said)));
}
