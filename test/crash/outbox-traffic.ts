import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { History } from "posthorn/testing";
import type { Chance } from "../chance.js";
import { hashOf } from "./end-state.js";
import type { Order } from "./host/outbox-work.mjs";
import { letterOf, signedHeaders } from "./letter.js";
import { ENDPOINTS } from "./endpoints.js";
import type { Host } from "./host.js";
import type { OutboxRun } from "./outbox-run.js";

/** Publications of every kind that a host makes. */
export const KINDS = [
  "beside",
  "given",
  "alone",
  "alone_given",
  "rolled_back",
  "later",
  "fleeting",
  "line",
  "relay",
] as const;
export type Kind = (typeof KINDS)[number];

const KEYS = ["a", "b", "c"];
// Longer than a host may stand still.
const PATIENCE_MS = 90_000;

export interface Wish {
  /** What names the event to everybody. */
  readonly ref: string;
  readonly chance: Chance;
  /** Empty: without one. @default one of a few */
  readonly key?: string;
}

/** Who is asked to publish, and who writes down what came of it. */
export interface Publishing {
  readonly history: History;
  readonly publisher: { host(): Promise<Host> };
}

/** Publishes one event of a kind, as its caller would: with an id, until it is confirmed; without one, once. */
export async function publish(run: Publishing, kind: Kind, given: Wish): Promise<void> {
  if (kind === "relay") return relay(run, given);
  const order = orderOf(kind, given);
  const writer = run.history.writer(`publisher-${given.ref}`);
  const invoked = {
    ...nameOf(given.ref),
    bodyHash: hashOf(Buffer.from(order.body, "base64")),
    endpoints: kind === "line" ? ENDPOINTS : ENDPOINTS.slice(0, 1),
    beside: order.how !== "alone",
    later: order.deliverInMs !== undefined,
  };
  await untilKnown(given.ref, order.id !== undefined, async () => {
    const host = await run.publisher.host();
    const call = writer.invoke("publish", invoked);
    try {
      const { status, verdict } = await host.post("/publish", order);
      if (status === 200) call.ok({ duplicate: verdict === "duplicate" });
      else if (status === 409) call.fail(verdict);
      else call.unknown(verdict);
      return status < 500;
    } catch (error) {
      // Whatever became of the host: it would never have committed this one.
      if (kind === "rolled_back") call.fail(String(error));
      else call.unknown(String(error));
      return false;
    }
  });
}

/** Tries until it is known what became of it; once, where a second try could do it twice. */
async function untilKnown(ref: string, again: boolean, attempt: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await attempt())) {
    if (!again) return;
    if (performance.now() > endsAt) throw new Error(`${ref} could not be published`);
    await sleep(20);
  }
}

/** An event that a receiver's handler publishes in the transaction of another one. */
async function relay(run: Publishing, { ref, chance }: Wish): Promise<void> {
  const letter = letterOf(ref, "counted", chance);
  const bodyHash = hashOf(Buffer.concat([Buffer.from(`${ref}\n`), letter.body]));
  const writer = run.history.writer(`publisher-${ref}`);
  const endpoints = ENDPOINTS.slice(0, 1);
  await untilKnown(ref, true, async () => {
    const { port } = await run.publisher.host();
    const call = writer.invoke("publish", { ...nameOf(ref), bodyHash, endpoints, beside: true });
    try {
      const headers = { ...signedHeaders(letter), "content-length": letter.body.length };
      const sent = request({ port, host: "127.0.0.1", path: letter.path, method: "POST", headers });
      sent.end(letter.body);
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.resume();
      await once(response, "end");
      const taken = (response.statusCode ?? 0) < 300;
      if (taken) call.ok({ duplicate: response.headers["posthorn-verdict"] === "duplicate" });
      else call.unknown(`${response.statusCode} ${String(response.headers["posthorn-verdict"])}`);
      return taken;
    } catch (error) {
      call.unknown(String(error));
      return false;
    }
  });
}

function orderOf(kind: Exclude<Kind, "relay">, { ref, chance, key: wanted }: Wish): Order {
  const filler = chance.below(8) === 0 ? chance.bytes(9000) : chance.bytes(20);
  const body = Buffer.concat([Buffer.from(`${ref}\n`), filler]).toString("base64");
  const key = wanted ?? (chance.below(5) === 0 ? "" : chance.pick(KEYS));
  const plain = { ref, type: kind === "line" ? "line" : "plain", body, ...(key === "" ? {} : { key }) };
  switch (kind) {
    case "beside":
      return { ...plain, how: "beside" };
    case "given":
    case "line":
      return { ...plain, how: "beside", id: ref };
    case "alone":
      return { ...plain, how: "alone" };
    case "alone_given":
      return { ...plain, how: "alone", id: ref };
    case "rolled_back":
      return { ...plain, how: "rolled_back" };
    case "later":
      return { ...plain, how: "beside", id: ref, deliverInMs: 50 + chance.below(200) };
    case "fleeting":
      return { ...plain, how: "beside", id: ref, expiresInMs: 300 + chance.below(3000) };
  }
}

function nameOf(id: string) {
  return { tenant: "default", source: "app", id };
}

/** A little of everything, all at once. */
export async function publishEverything(run: OutboxRun, chance: Chance, wave: number): Promise<void> {
  const each = KINDS.flatMap((kind) =>
    Array.from({ length: 3 }, (_, n) => ({ kind, ref: `${run.scope}-${kind}${wave}x${n}` })),
  );
  await Promise.all(each.map(({ kind, ref }) => publish(run, kind, { ref, chance })));
}
