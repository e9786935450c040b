import type { AddressInfo } from "node:net";
import { createClient, problemOf } from "posthorn/client";
import type { Client, TailGap, TailMessage, TailQuery } from "posthorn/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";
import { BEAT_MS } from "./tail.js";

let bench: ApiBench;
let url: string;
let client: Client;
beforeAll(async () => {
  bench = await apiBench();
  await bench.app.listen({ host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${(bench.app.server.address() as AddressInfo).port}`;
  client = createClient({ url, token: await bench.token("read") });
});
afterAll(closeBenches);

const stored = (n: number, source = "stripe"): void =>
  bench.parts.activity.ingested({ source, verdict: "stored", type: "invoice.paid", eventId: `evt_${n}` });

/** Follows until so many have come; what is told once it listens is surely seen. */
async function first(
  most: number,
  query: TailQuery,
  happens: () => void,
): Promise<readonly (TailMessage | TailGap)[]> {
  const found: (TailMessage | TailGap)[] = [];
  const options = { onConnection: (open: boolean) => open && happens() };
  for await (const message of client.tail(query, options)) {
    found.push(message);
    if (found.length === most) break;
  }
  return found;
}

it("a tail tells what happens on the node, as it happens", async () => {
  const [one, two] = await first(2, {}, () => {
    stored(1);
    bench.parts.activity.ingested({ source: "stripe", verdict: "rejected", code: "signature_mismatch" });
  });
  expect(one).toMatchObject({ kind: "stored", source: "stripe", type: "invoice.paid", eventId: "evt_1" });
  expect(two).toMatchObject({ kind: "rejected", code: "signature_mismatch" });
});

it("a tail with filters tells those alone that are asked for", async () => {
  const found = await first(1, { kind: ["stored", "dead"], source: "github" }, () => {
    stored(2);
    bench.parts.activity.published({ source: "github", type: "push", eventId: "evt_3" });
    stored(4, "github");
  });
  expect(found).toMatchObject([{ eventId: "evt_4" }]);
});

it("a tail goes on after the message that was read last, and says what is gone", async () => {
  const [last] = await first(1, {}, () => stored(5));
  stored(6);
  stored(7);
  const after = (last as TailMessage).id;
  expect(await first(2, { after }, () => undefined)).toMatchObject([
    { eventId: "evt_6" },
    { eventId: "evt_7" },
  ]);
  for (let n = 0; n < 2100; n++) stored(100 + n);
  const [gap, next] = await first(2, { after }, () => undefined);
  expect(gap).toEqual({ kind: "gap", lost: 102 });
  expect(next).toMatchObject({ eventId: "evt_200" });
  expect(await first(1, { after: "another-node.17" }, () => undefined)).toEqual([
    { kind: "gap", lost: null },
  ]);
});

it("an unknown kind is refused, and not followed for ever", async () => {
  const refused = await first(1, { kind: ["exploded" as never] }, () => undefined).catch(
    (error: unknown) => error,
  );
  expect(problemOf(refused)).toMatchObject({ status: 400, field: "kind" });
});

it("a tail ends with its token", async () => {
  const token = await bench.token("read", new Date(bench.clock.now() + 5000));
  const answer = await fetch(`${url}/api/v1/tail`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const whole = answer.text();
  await bench.clock.advance(BEAT_MS);
  expect(await whole).toMatch(/^: what happens on this node\n\n/);
});

it("a node that stops does not wait for those who follow it", async () => {
  const other = await apiBench();
  await other.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = other.app.server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${await other.token("read")}` };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/tail`, { headers });
  await Promise.all([other.app.close(), answer.text()]);
});
