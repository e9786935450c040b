import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FLUSH_EVERY_MS } from "../../server/src/observe/series-writer.js";
import { eventually, startNode, startSink } from "./node-process.js";
import type { NodeProcess, Sink } from "./node-process.js";

let home: string;
let sink: Sink;
let node: NodeProcess;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "posthorn-counters-"));
  sink = await startSink(200);
  node = await startNode(home, []);
}, 120_000);
afterAll(async () => {
  await node.kill().catch(() => undefined);
  sink.close();
  rmSync(home, { recursive: true, force: true });
});

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
// The write itself takes its time, on a machine that is busy too.
const SLACK_MS = 1500;

it(
  "after a kill -9 counters miss at most what happened since the last write, and never have too much",
  { timeout: 180_000 },
  async () => {
    await node.client.endpoints.create({ id: "ep_counted", url: sink.url, order: "none" });
    const accepted: number[] = [];
    const until = Date.now() + 7000;
    for (let n = 0; Date.now() < until; n++) {
      await node.client.events.publish({ id: `counted_${n}`, type: "t", data: n });
      accepted.push(Date.now());
    }
    const killedAt = Date.now();
    await node.kill();
    const landed = sink.landed.map(({ at }) => at);
    node = await startNode(home, []);
    const { total } = await node.client.series({ since: "1h", step: 60, by: "total" });
    const sure = (times: readonly number[]): number =>
      times.filter((at) => at < killedAt - FLUSH_EVERY_MS - SLACK_MS).length;
    const published = sum(total.published);
    console.log(
      `published ${accepted.length}, counted ${published}, promised at least ${sure(accepted)}; landed ${landed.length}, counted ${sum(total.delivered)}`,
    );
    expect(published).toBeGreaterThanOrEqual(sure(accepted));
    expect(published).toBeLessThanOrEqual(accepted.length);
    expect(sum(total.delivered)).toBeGreaterThanOrEqual(sure(landed));
    // What the killed node had under way is delivered, and counted, by the restarted one.
    expect(sum(total.delivered)).toBeLessThanOrEqual(sink.landed.length);
    await eventually("all landed", 60_000, () =>
      Promise.resolve(new Set(sink.landed.map(({ id }) => id)).size === accepted.length),
    );
  },
);
