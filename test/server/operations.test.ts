import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { everyItem } from "posthorn/client";
import type { Operation, OperationItem } from "posthorn/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMasterKey } from "../../server/src/secrets/master-key.js";
import { freshDatabase } from "../services.js";
import { eventually, startNode, startSink } from "./node-process.js";
import type { NodeProcess, Sink } from "./node-process.js";

const LETTERS = 20_000;
const KEYS = 100;
const RATE = 2500;
const SLOTS = 64;
// A lane under way carries a run of up to eight events.
const UNDER_WAY = SLOTS * 8;
const LONG = { timeout: 400_000 };

let home: string;
let sink: Sink;
const nodes: NodeProcess[] = [];
const idOf = (n: number): string => `many_${String(n).padStart(5, "0")}`;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "posthorn-operations-"));
  sink = await startSink(500);
  const database = await freshDatabase({ migrated: false });
  const flags = ["--database", database, "--master-key", newMasterKey(), "--slots", String(SLOTS)];
  nodes.push(await startNode(home, flags));
  nodes.push(await startNode(home, flags));
  const client = one().client;
  // One attempt, and the lane goes on: all of them die, in the order in which they were published.
  await client.endpoints.create({ id: "ep_many", url: sink.url, dead: "skip", retry: { waitsMs: [] } });
  for (let n = 0; n < LETTERS; n += 1000) {
    await client.events.publish(
      Array.from({ length: 1000 }, (_, m) => ({
        id: idOf(n + m),
        type: "t",
        key: `key_${(n + m) % KEYS}`,
        data: 1,
      })),
    );
  }
  await eventually(
    "20,000 dead letters",
    240_000,
    async () => (await client.status()).counts.dead === LETTERS,
  );
}, 300_000);

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.kill().catch(() => undefined)));
  sink.close();
  rmSync(home, { recursive: true, force: true });
});

const one = (): NodeProcess => nodes[0] as NodeProcess;
const other = (): NodeProcess => nodes[1] as NodeProcess;

async function plan(): Promise<Operation> {
  return one().client.operations.create({
    verb: "redrive",
    filter: { dead: { endpoint: "ep_many" } },
    dryRun: true,
  });
}

it("a plan over 20,000 dead letters counts them all, and sends nothing", LONG, async () => {
  const { plan: planned } = await plan();
  expect(planned).toMatchObject({ count: LETTERS, more: false, lanes: KEYS });
  // Lanes go side by side: it is the first of one of them.
  expect((planned.oldest?.eventId ?? "") < idOf(KEYS)).toBe(true);
  expect(sink.landed).toEqual([]);
});

it("after a stop is acknowledged at most one step runs", LONG, async () => {
  const { client } = one();
  const { id } = await client.operations.run((await plan()).id, { rate: 500 });
  await eventually("some done", 30_000, async () => (await client.operations.get(id)).done >= 500);
  const asked = performance.now();
  const { done } = await client.operations.stop(id);
  const ackMs = performance.now() - asked;
  await eventually("it stands", 30_000, async () => (await client.operations.get(id)).state === "stopped");
  const ended = await client.operations.get(id);
  console.log(
    `stop acknowledged in ${ackMs.toFixed(0)} ms, ended ${(performance.now() - asked).toFixed(0)} ms after it was asked for; ${ended.done - done} more of a step of 100`,
  );
  expect(ended.done - done).toBeLessThanOrEqual(100);
  // They die again at an endpoint that still refuses: in their next round.
  await eventually("dead again", 60_000, async () => (await client.status()).counts.dead === LETTERS);
});

it(
  "an operation whose node is killed in the middle is finished by another, each item once and in order",
  LONG,
  async () => {
    sink.status = 200;
    const dead: string[] = [];
    const oldest = (page: object) =>
      one().client.dead.list({ endpoint: "ep_many", order: "oldest", ...page });
    for await (const { eventId } of everyItem(oldest, { limit: 1000 })) dead.push(eventId);
    expect(dead).toHaveLength(LETTERS);
    const { id } = await one().client.operations.run((await plan()).id, { rate: RATE });
    const operations = other().client.operations;
    await eventually("the middle", 60_000, async () => (await operations.get(id)).done >= LETTERS / 4);
    const { node, done } = await operations.get(id);
    // Whichever has it: the one that is killed is the one that works.
    const names = await Promise.all(nodes.map(async ({ client }) => (await client.settings()).node));
    const victim = names.indexOf(node ?? "");
    const survivor = nodes[1 - victim] as NodeProcess;
    await (nodes[victim] as NodeProcess).kill();
    const killedAt = Date.now();
    await eventually("the end", 200_000, async () =>
      ["finished", "failed"].includes((await survivor.client.operations.get(id)).state),
    );
    const ended = await survivor.client.operations.get(id);
    console.log(
      `killed after ${done} of ${LETTERS}; finished by the other ${Date.now() - killedAt} ms later`,
    );
    expect(ended).toMatchObject({ state: "finished", done: LETTERS });
    expect(ended.node === node).toBe(false);
    const items: OperationItem[] = [];
    for await (const item of everyItem((page) => survivor.client.operations.items(id, page), { limit: 1000 }))
      items.push(item);
    expect(new Set(items.map(({ deliveryId }) => deliveryId)).size).toBe(LETTERS);
    expect(items.filter(({ result }) => result === "pending" || result === "unknown")).toEqual([]);
    await eventually("all landed", 200_000, () =>
      Promise.resolve(new Set(sink.landed.map(({ id: event }) => event)).size === LETTERS),
    );
    expectOrder(dead);
    expect((await survivor.client.status()).counts.dead).toBe(0);
  },
);

/** First landings of each key, in the order in which they had died. What was under way at the kill may land twice. */
function expectOrder(dead: readonly string[]): void {
  const first = [...new Set(sink.landed.map(({ id }) => id))];
  for (let key = 0; key < KEYS; key++) {
    const own = (ids: readonly string[]): readonly string[] =>
      ids.filter((id) => Number(id.slice(5)) % KEYS === key);
    expect(own(first)).toEqual(own(dead));
  }
  const twice = sink.landed.length - first.length;
  console.log(`${twice} of ${LETTERS} landed twice: they were under way when their node was killed`);
  expect(twice).toBeLessThanOrEqual(UNDER_WAY);
}
