import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { migrate } from "posthorn/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";

const EVENTS = 300;
const program = fileURLToPath(new URL("./rival.ts", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

let file: DatabaseFile;
const children: ChildProcess[] = [];
beforeEach(() => void (file = createDatabaseFile()));
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  file.remove();
});

/** Starts a process on the file; `go` lets it work, and `done` is what it prints in the end. */
async function start(task: string): Promise<{ go(): void; done: Promise<Record<string, unknown>> }> {
  const child = spawn(process.execPath, ["--import", "tsx", program, file.path, task], { cwd: root });
  children.push(child);
  const said: string[] = [];
  child.stderr.on("data", (text: Buffer) => said.push(text.toString()));
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, "line"), once(child, "exit").then(() => undefined)]);
  if (first === undefined) throw new Error(`The process ended before it was ready:\n${said.join("")}`);
  const done = once(lines, "line").then(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
  return { go: () => void child.stdin.write("go\n"), done };
}

async function rivals(task: string): Promise<Record<string, unknown>[]> {
  const started = await Promise.all([start(task), start(task), start("storm")]);
  for (const each of started.slice(0, 2)) each.go();
  const told = await Promise.all(started.slice(0, 2).map(({ done }) => done));
  started[2]?.go();
  expect(await started[2]?.done).toEqual({ locks: expect.toSatisfy((locks: number) => locks > 0) as number });
  return told;
}

describe("two processes on one file, while a third keeps taking the write lock", () => {
  it("are told of every id once between them that it is new", async () => {
    const told = await rivals("recordAll");
    expect(told.map(({ error }) => error)).toEqual([undefined, undefined]);
    const first = told.flatMap((each) => each["first"] as string[]);
    expect([first.length, new Set(first).size]).toEqual([EVENTS, EVENTS]);
  });

  it("apply every event once between them, and both are told so of every event", async () => {
    const db = file.open();
    await migrate(db);
    db.exec("create table effect (mark text not null)");
    const told = await rivals("acceptAll");
    expect(told.map(({ error }) => error)).toEqual([undefined, undefined]);
    const applied = told.flatMap((each) => (each["applied"] ?? []) as string[]);
    const duplicates = told.flatMap((each) => (each["duplicate"] ?? []) as string[]);
    expect([applied.length, new Set(applied).size, duplicates.length]).toEqual([EVENTS, EVENTS, EVENTS]);
    const marks = db.prepare("select count(*), count(distinct mark) from effect").raw().get();
    expect(marks).toEqual([EVENTS, EVENTS]);
  });
});
