import Database from "better-sqlite3";
import { createSigner, sign } from "posthorn";
import type { Publication } from "posthorn";
import { createChecker, createHistory } from "posthorn/testing";
import type { History, HistoryReport } from "posthorn/testing";
import type { Plain, BlockedLane } from "posthorn/operator";
import type { FailingRun } from "./every-call.js";
import { Insistence } from "./insistence.js";
import { bodyOf, Life, SECRET } from "./life.js";
import { LATE, QuickClock } from "./quick-clock.js";
import { passedIn, pendingIn, readEnd, stoppedIn } from "./read-end.js";
import type { Failure, StoreCalls } from "./store-calls.js";
import { templateWith } from "./template.js";
import { hashOf, Wire } from "./wire.js";

const ENDPOINTS = [
  { id: "ep_loop", types: ["relay", "plain"], waits: 40 },
  { id: "ep_bad", types: ["bad"], waits: 1 },
  { id: "ep_gone", types: ["gone"], waits: 1 },
] as const;
const WAIT_MS = 1000;

const TEMPLATE = await templateWith(
  "create table effect (source text, id text, body blob); create table business (ref text)",
);

/** A database, the processes on it, and those who watch: one run, of which one call to a store fails. */
export class World implements FailingRun {
  #passed = 0;
  readonly #db = new Database(TEMPLATE);
  readonly #clock = new QuickClock(Date.UTC(2030, 0, 1));
  readonly #checker = createChecker();
  readonly #history: History = createHistory({
    write: (record) => this.#checker.observe(record),
    clock: this.#clock,
  });
  readonly #refusing = new Set(["bad-1", "bad-3", "bad-4"]);
  readonly #wire = new Wire({ history: this.#history, clock: this.#clock, refusing: this.#refusing });
  readonly #flaky = new Set<string>();
  readonly #host: Insistence<Life>;

  constructor(failure: Failure) {
    this.#host = new Insistence({
      failure,
      clock: this.#clock,
      history: this.#history,
      begin: (calls) => this.#newLife(calls),
      start: (life) => life.dispatcher.start(),
    });
  }

  get calls(): StoreCalls {
    return this.#host.calls;
  }

  /** The call that failed. */
  get failed(): string | undefined {
    return this.#host.failed;
  }

  /** Somebody skipped what nobody had seen dead. */
  get harm(): string | undefined {
    return this.#passed === 0 ? undefined : `${this.#passed} were skipped that were still due`;
  }

  /** Receives, publishes, delivers, fails, retries, gives up and redrives. Throws when it does not come to rest. */
  async run(): Promise<HistoryReport> {
    await this.#createEndpoints();
    await this.#host.insist((life) => life.dispatcher.start());
    await this.#receive();
    await this.#publish();
    await this.#host.until("two lanes have stopped", () => stoppedIn(this.#db) === 2);
    await this.#operate();
    await this.#host.until("nothing waits for a worker", () => pendingIn(this.#db) === 0);
    await this.#host.insist((life) => life.receiver.flush());
    await this.#host.insist((life) => life.receiver.purge());
    await this.#host.insist((life) => life.dispatcher.stop());
    this.#passed = passedIn(this.#db);
    readEnd(this.#db, this.#history.writer("reader"));
    this.#db.close();
    return this.#checker.end();
  }

  async #createEndpoints(): Promise<void> {
    for (const { id, types, waits } of ENDPOINTS) {
      const retry = { waitsMs: Array.from({ length: waits }, () => WAIT_MS), jitter: 0 };
      const wish = { id, url: `https://example.com/${id}`, secrets: SECRET, types, retry };
      await this.#host.insist(async ({ sender: { endpoints } }) => {
        if ((await endpoints.get(id)) === undefined) await endpoints.create(wish);
      });
      const seen = { endpoint: id, dead: "halt", maxAttempts: waits + 1, leastWaitMs: WAIT_MS } as const;
      this.#history.writer("tester").see("endpoint", seen);
    }
    await this.#host.insist((life) => life.sender.endpoints.pause("ep_gone"));
  }

  /** Of a provider: events that succeed, come again, come with another body, and fail at first. */
  async #receive(): Promise<void> {
    await this.#deliver("a", "first");
    await this.#deliver("b", "first");
    await this.#deliver("a", "first");
    await this.#deliver("b", "another body");
    await this.#deliver("flaky", "first");
  }

  async #deliver(id: string, text: string): Promise<void> {
    const body = Buffer.from(JSON.stringify({ type: "order.paid", text }));
    const ref = `from-${id}`;
    const [sending, publishing] = [this.#host.writer("provider"), this.#host.writer("handler")];
    const signer = createSigner({ secrets: SECRET, clock: this.#clock });
    await this.#host.insist(async ({ receiver }) => {
      const name = { tenant: "default", source: "shop", id };
      const sent = sending().invoke("send", { ...name, bodyHash: hashOf(body), genuine: true });
      const published = publishing().invoke("publish", {
        ...publicationOf(ref, true),
        endpoints: ["ep_loop"],
      });
      const headers = await sign(signer, { id, body });
      const reply = await this.#host.answered(receiver.receive("shop", { headers, body }));
      if (reply === LATE) {
        sent.unknown("no answer");
        published.unknown("no answer");
        throw new Error("no answer");
      }
      sent.ok({ status: reply.status, verdict: reply.headers?.["posthorn-verdict"] });
      if (reply.status < 300) published.ok({});
      else published.unknown(String(reply.status));
      if (reply.status >= 500) throw new Error(`answered with ${reply.status}`);
    });
  }

  /** Of the host itself: in its transactions, and without. */
  async #publish(): Promise<void> {
    await this.#publishOne({ id: "in-tx", type: "plain", key: "k" }, "ep_loop", true);
    await this.#publishOne({ id: "alone", type: "plain", key: "k" }, "ep_loop");
    await this.#publishOne({ id: "loose", type: "plain" }, "ep_loop");
    const deliverAt = new Date(this.#clock.now() + 2500);
    await this.#publishOne({ id: "later", type: "plain", key: "k", deliverAt }, "ep_loop");
    for (const [id, key] of [
      ["bad-1", "halts"],
      ["bad-2", "halts"],
      ["bad-3", "skips"],
      ["bad-4", "skips"],
    ] as const)
      await this.#publishOne({ id, type: "bad", key }, "ep_bad");
    await this.#publishOne({ id: "gone-1", type: "gone", key: "k" }, "ep_gone");
  }

  async #publishOne(event: Publication & { id: string }, endpoint: string, beside = false): Promise<void> {
    const publication = { ...event, body: bodyOf(event.id) };
    const invoked = {
      ...publicationOf(event.id, beside),
      endpoints: [endpoint],
      later: event.deliverAt !== undefined,
    };
    const writer = this.#host.writer("host");
    await this.#host.insist(async ({ sender }) => {
      const call = writer().invoke("publish", invoked);
      const publishing = beside
        ? this.#inTransaction(event.id, (tx) => sender.publish(publication, { tx }))
        : sender.publish(publication);
      const published = await this.#host.answered(publishing.catch(String));
      if (published === LATE || typeof published === "string") {
        call.unknown(String(published));
        throw new Error(String(published));
      }
      call.ok({ duplicate: published.duplicate });
    });
  }

  /** A transaction of the host; where this publication is known already, it writes nothing beside it. */
  // oxlint-disable-next-line require-await -- what it throws is a rejection, as where transactions await
  async #inTransaction<T extends { readonly duplicate: boolean }>(
    ref: string,
    work: (tx: Database.Database) => T,
  ): Promise<T> {
    return this.#db.transaction(() => {
      const published = work(this.#db);
      if (!published.duplicate) this.#db.prepare("insert into business (ref) values (?)").run(ref);
      return published;
    })();
  }

  /** A person looks, takes an endpoint out, redrives one dead letter and passes over the other. */
  async #operate(): Promise<void> {
    await this.#host.insist(({ sender }) => sender.endpoints.list());
    await this.#host.insist(async ({ sender: { endpoints } }) => {
      if ((await endpoints.get("ep_gone")) !== undefined) await endpoints.remove("ep_gone");
    });
    await this.#host.insist(async ({ operator }) => {
      for (const { id } of (await operator.deadLetters()).items) await operator.attempts(id);
    });
    for (const id of ["bad-1", "bad-3"]) this.#refusing.delete(id);
    await this.#act("redrive", "halts", async ({ operator }) => {
      const letter = (await operator.deadLetters()).items.find(({ eventId }) => eventId === "bad-1");
      return letter === undefined ? "unknown" : operator.redrive(letter.id);
    });
    // As seen at first: whoever clicks again means the same head, and not the one that has taken its place and waits.
    let seen: Plain<BlockedLane> | undefined;
    await this.#act("skip", "skips", async ({ operator }) => {
      seen ??= (await operator.blockedLanes()).items.find(({ key }) => key === "skips");
      return seen === undefined ? "unknown" : operator.skip(seen.id, seen.head);
    });
    this.#refusing.clear();
  }

  async #act(verb: string, key: string, act: (life: Life) => Promise<string>): Promise<void> {
    const writer = this.#host.writer("operator");
    await this.#host.insist(async (life) => {
      const call = writer().invoke("operate", { verb, endpoint: "ep_bad", key });
      const answer = await this.#host.answered(act(life).catch((error: unknown) => error));
      if (typeof answer !== "string") {
        call.unknown(String(answer));
        throw new Error("no answer");
      }
      call.ok({ answer });
    });
  }

  #newLife(calls: StoreCalls): Life {
    const egressOf = (life: Life) => this.#wire.egressOf(life);
    return new Life({ db: this.#db, clock: this.#clock, calls, egressOf, flaky: this.#flaky });
  }
}

function publicationOf(ref: string, beside: boolean) {
  return { tenant: "default", source: "app", id: ref, bodyHash: hashOf(bodyOf(ref)), beside };
}
