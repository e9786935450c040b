import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";

// The program of docs/replaying.md, as it stands there, in a process of its own.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/replaying.md", import.meta.url), "utf8");
const block = /```ts\n\/\/ replay\.ts\n([^]*?)```/.exec(page)?.[1] ?? "";

// More than one page, of ids that are the other way round: what is replayed is not what the ids would say.
const EVENTS = 150;

const store = `
  import Database from "better-sqlite3";
  import { createReceiver, createWorker } from "posthorn";
  import { stripe } from "posthorn/providers";
  import { migrate, sqliteStore } from "posthorn/sqlite";
  import { signedRequest } from "posthorn/testing";
  const db = new Database(":memory:");
  await migrate(db);
  const store = sqliteStore({ db });
  const secrets = "whsec_of_this_test";
  const sources = { stripe: { verifier: stripe({ secrets }), key: { json: "/data/object/customer" } } };
  const receiver = createReceiver({ mode: "store_first", store, sources });
  const seen = [];
  const worker = createWorker({ store, handlers: { "*": ({ id }) => () => void seen.push(id) } });
  for (let n = ${EVENTS}; n > 0; n--) {
    const id = "evt_" + String(n).padStart(3, "0");
    await receiver.receive("stripe", await signedRequest("stripe", { id, type: "a", data: { customer: "cus_1" }, secrets }));
  }
  await worker.drain();
`;
const after = `
  await worker.drain();
  const half = seen.length / 2;
  console.log(seen.length, seen.slice(0, half).join() === seen.slice(half).join(), seen[0]);
`;

const folder = mkdtempSync(join(tmpdir(), "posthorn-replay-"));
const deeds = join(folder, "deeds.log");
afterAll(() => rmSync(folder, { recursive: true }));

/** The program after these steps, with what it is given behind the span. */
async function replayed(...last: readonly string[]): Promise<string> {
  const program = block
    .replace(/import \{ store \}.*\n/, store)
    .replace(" as const", "")
    .replace('"deeds.log"', JSON.stringify(deeds))
    .concat(after);
  const span = [new Date(Date.now() - 86_400_000), new Date(Date.now() + 86_400_000)];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", program, "replay.js", ...span.map((at) => at.toISOString()), ...last],
    { cwd: root, env: { ...process.env, NODE_ENV: "test" } },
  );
  return stdout;
}

it("the documented program counts first, and changes nothing", async () => {
  expect(await replayed()).toMatch(new RegExp(`^${EVENTS} would be handled again: say why\n${EVENTS} `));
  expect(existsSync(deeds)).toBe(false);
});

it("the documented program replays all of a span, oldest first in the order of the key, and writes down who did it and why", async () => {
  expect(await replayed("wrong VAT")).toBe(
    `${EVENTS} of ${EVENTS} are handled again\n${2 * EVENTS} true evt_${EVENTS}\n`,
  );
  const lines = readFileSync(deeds, "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(EVENTS);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    at: expect.any(String) as string,
    kind: "operator_acted",
    verb: "replay",
    on: `default/stripe/evt_${EVENTS} at default`,
    answer: "staged",
    by: userInfo().username,
    because: "wrong VAT",
  });
});
