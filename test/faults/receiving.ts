import { createHash } from "node:crypto";
import { createReceiver, createSigner, sign, standardWebhooks } from "posthorn";
import type { Receiver } from "posthorn";
import { memoryStore } from "posthorn/memory";
import type { MemoryTx } from "posthorn/memory";
import { createChecker, createFakeClock, createHistory } from "posthorn/testing";
import type { EventName, FakeClock, HistoryReport, HistoryWriter } from "posthorn/testing";
import type { FailingStore, Failure } from "./failing-store.js";
import { failNthCall } from "./failing-store.js";

const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";
const MOST_DELIVERIES = 6;
const PATIENCE_MS = 120_000;

/** A whole receiving run over a memory store of which one call fails, and what it came to. */
export class Receiving {
  readonly calls: FailingStore<MemoryTx>["calls"];
  readonly #clock: FakeClock = createFakeClock({ at: Date.now() });
  readonly #checker = createChecker();
  readonly #history = createHistory({ write: (record) => this.#checker.observe(record) });
  readonly #effects: (EventName & { body: Uint8Array })[] = [];
  readonly #store = memoryStore({ clock: this.#clock });
  readonly #receiver: Receiver;
  #counted = 0;
  #senders = 0;

  constructor(nth: number, failure: Failure) {
    const { store, calls } = failNthCall(this.#store, nth, failure);
    this.calls = calls;
    const verifier = standardWebhooks({ secrets: SECRET, clock: this.#clock });
    const flaky = new Set<string>();
    this.#receiver = createReceiver({
      store,
      // What fails here fails as asked.
      observer: () => {},
      sources: { shop: { verifier } },
      clock: this.#clock,
      handlers: {
        "*": ({ tenant, source, id, type, body }, { tx }) => {
          tx.onCommit(() => {
            this.#effects.push({ tenant, source, id, body: body.slice() });
            this.#counted++;
          });
          if (type !== "flaky" || flaky.has(id)) return;
          flaky.add(id);
          throw new Error("as asked");
        },
      },
    });
  }

  /** Events that succeed, fail at first, come again, and come again with another body. */
  async run(): Promise<HistoryReport> {
    for (const id of ["a", "b"]) await this.#deliver(id, "counted");
    await this.#deliver("c", "flaky");
    await this.#deliver("a", "counted");
    await this.#deliver("b", "counted", "another body");
    await this.#within(this.#receiver.flush().catch(() => undefined));
    return this.#end();
  }

  async #deliver(id: string, type: string, salt = ""): Promise<void> {
    const sender = this.#history.writer(`sender-${++this.#senders}`);
    for (let delivery = 1; delivery <= MOST_DELIVERIES; delivery++) {
      const status = await this.#once(sender, id, JSON.stringify({ type, salt }));
      if (status !== undefined && status < 500) return;
    }
    throw new Error(`${id} was not taken in ${MOST_DELIVERIES} deliveries`);
  }

  async #once(sender: HistoryWriter, id: string, text: string): Promise<number | undefined> {
    const body = Buffer.from(text);
    const name = { tenant: "default", source: "shop", id };
    const signer = createSigner({ secrets: SECRET, clock: this.#clock });
    const headers = await sign(signer, { id, body });
    const call = sender.invoke("send", {
      ...name,
      bodyHash: hashOf(body ?? new Uint8Array()),
      genuine: true,
    });
    const answered = this.#receiver.receive("shop", { headers, body, method: "POST" });
    const reply = await this.#within(answered);
    if (reply === undefined) call.unknown("no answer");
    else call.ok({ status: reply.status, verdict: reply.headers?.["posthorn-verdict"] });
    return reply?.status;
  }

  /** Waits as a provider does: until its patience is over, by a clock that is turned. */
  async #within<T>(promise: Promise<T>): Promise<T | undefined> {
    let done = false;
    const noted = promise.finally(() => (done = true));
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 1000) {
      await new Promise((resolve) => setImmediate(resolve));
      if (done) return noted;
      await this.#clock.advance(1000);
    }
    return undefined;
  }

  async #end(): Promise<HistoryReport> {
    const reader = this.#history.writer("reader");
    for (const { tenant, source, id, body } of this.#effects)
      reader.see("effect", { tenant, source, id, bodyHash: hashOf(body ?? new Uint8Array()) });
    reader.see("effects_read", { rows: this.#effects.length, counted: this.#counted });
    const rows = await Promise.all(
      ["a", "b", "c"].map((id) => this.#store.read({ tenant: "default", source: "shop", id })),
    );
    const known = rows.filter((row) => row !== undefined);
    for (const { tenant, source, id, outcome, body, bodyHash } of known) {
      const hashColumn = Buffer.from(bodyHash).toString("hex");
      reader.see("stored", {
        tenant,
        source,
        id,
        outcome,
        bodyHash: hashOf(body ?? new Uint8Array()),
        hashColumn,
      });
    }
    reader.see("inbox_read", { rows: known.length, sources: ["shop"] });
    return this.#checker.end();
  }
}

function hashOf(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}
