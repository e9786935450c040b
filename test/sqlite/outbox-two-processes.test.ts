import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { endpointOf } from "./outbox-events.js";

const EVENTS = 200;
const program = fileURLToPath(new URL("./outbox-rival.ts", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

let file: DatabaseFile;
const children: ChildProcess[] = [];
beforeEach(() => void (file = createDatabaseFile()));
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  file.remove();
});

/** Starts a process on the file; `go` lets it work, and `done` is what it has delivered in the end. */
async function start(name: string): Promise<{ go(): void; done: Promise<string[]> }> {
  const child = spawn(process.execPath, ["--import", "tsx", program, file.path, name], { cwd: root });
  children.push(child);
  const said: string[] = [];
  child.stderr.on("data", (text: Buffer) => said.push(text.toString()));
  const ended = once(child, "exit").then(() => {
    throw new Error(`The process ended:\n${said.join("")}`);
  });
  const lines = createInterface({ input: child.stdout });
  await Promise.race([once(lines, "line"), ended]);
  const told = once(lines, "line").then(([line]) => JSON.parse(String(line)) as string[]);
  const done = Promise.race([told, ended]);
  return { go: () => void child.stdin.write("go\n"), done };
}

it("two processes that publish and deliver side by side deliver every event once, and each lane in order", async () => {
  const db = file.open();
  await migrate(db);
  await sqliteStore({ db }).addEndpoint(endpointOf());
  const rivals = await Promise.all([start("a"), start("b")]);
  for (const rival of rivals) rival.go();
  const delivered = (await Promise.all(rivals.map(({ done }) => done))).flat();
  expect([delivered.length, new Set(delivered).size]).toEqual([2 * EVENTS, 2 * EVENTS]);
  // One acknowledged attempt for each sequence, without a gap from the first to the last.
  const lanes = db
    .prepare(
      `select count(*) as attempts, count(distinct seq) as sequences, max(seq) - min(seq) + 1 as places, max(no) as most
       from posthorn_attempt where outcome = 'acknowledged' group by lane`,
    )
    .all() as { attempts: number; sequences: number; places: number; most: number }[];
  expect(
    lanes.filter(
      ({ attempts, sequences, places, most }) => attempts !== sequences || sequences !== places || most !== 1,
    ),
  ).toEqual([]);
  expect(lanes.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(2 * EVENTS);
});
