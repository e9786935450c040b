import Database from "better-sqlite3";
import { createSigner, sign } from "posthorn";
import type { Publication } from "posthorn";
import { migrate } from "posthorn/sqlite";
import { createChecker, createHistory } from "posthorn/testing";
import type { History, HistoryReport } from "posthorn/testing";
import type { Plain, BlockedLane } from "posthorn/operator";
import { bodyOf, Life, SECRET } from "./life.js";
import { LATE, QuickClock } from "./quick-clock.js";
import { passedIn, pendingIn, readEnd, stoppedIn } from "./read-end.js";
import type { Failure } from "./store-calls.js";
import { StoreCalls } from "./store-calls.js";
import { hashOf, Wire } from "./wire.js";

const MOST_TRIES = 40;
/** More than a lease, so that what nobody settles has been taken over. */
const PATIENCE_MS = 30_000;
const ENDPOINTS = [
  { id: "ep_loop", types: ["relay", "plain"], waits: 40 },
  { id: "ep_bad", types: ["bad"], waits: 1 },
  { id: "ep_gone", types: ["gone"], waits: 1 },
] as const;
const WAIT_MS = 1000;

// Made once: most of a run would be spent on making tables.
const TEMPLATE = await template();

async function template(): Promise<Buffer> {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table effect (source text, id text, body blob); create table business (ref text)");
  const bytes = db.serialize();
  db.close();
  return bytes;
}

/** A database, the processes on it, and those who watch: one run, of which one call to a store fails. */
export class World {
  readonly calls: StoreCalls;
  /** The call that failed. */
  failed: string | undefined;
  /** How many were passed over that nobody had seen dead. */
  passed = 0;
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
  #life: Life;
  #writers = 0;
  #hung = false;

  constructor(failure: Failure) {
    this.calls = new StoreCalls(failure, (call) => {
      this.failed = call;
      this.#hung = failure.way === "hang";
      this.#fault(`${failure.way} of ${call}`);
    });
    this.#life = this.#newLife();
  }

  /** Receives, publishes, delivers, fails, retries, gives up and redrives. Throws when it does not come to rest. */
  async run(): Promise<HistoryReport> {
    await this.#createEndpoints();
    await this.#insist((life) => life.dispatcher.start());
    await this.#receive();
    await this.#publish();
    await this.#until("two lanes have stopped", () => stoppedIn(this.#db) === 2);
    await this.#operate();
    await this.#until("nothing waits for a worker", () => pendingIn(this.#db) === 0);
    await this.#insist((life) => life.receiver.flush());
    await this.#insist((life) => life.receiver.purge());
    await this.#insist((life) => life.dispatcher.stop());
    this.passed = passedIn(this.#db);
    readEnd(this.#db, this.#history.writer("reader"));
    this.#db.close();
    return this.#checker.end();
  }

  async #createEndpoints(): Promise<void> {
    for (const { id, types, waits } of ENDPOINTS) {
      const retry = { waitsMs: Array.from({ length: waits }, () => WAIT_MS), jitter: 0 };
      const wish = { id, url: `https://example.com/${id}`, secrets: SECRET, types, retry };
      await this.#insist(async ({ sender: { endpoints } }) => {
        if ((await endpoints.get(id)) === undefined) await endpoints.create(wish);
      });
      const seen = { endpoint: id, dead: "halt", maxAttempts: waits + 1, leastWaitMs: WAIT_MS } as const;
      this.#history.writer("tester").see("endpoint", seen);
    }
    await this.#insist((life) => life.sender.endpoints.pause("ep_gone"));
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
    const [sending, publishing] = [this.#writer("provider"), this.#writer("handler")];
    const signer = createSigner({ secrets: SECRET, clock: this.#clock });
    await this.#insist(async ({ receiver }) => {
      const name = { tenant: "default", source: "shop", id };
      const sent = sending().invoke("send", { ...name, bodyHash: hashOf(body), genuine: true });
      const published = publishing().invoke("publish", {
        ...publicationOf(ref, true),
        endpoints: ["ep_loop"],
      });
      const headers = await sign(signer, { id, body });
      const reply = await this.#clock.within(receiver.receive("shop", { headers, body }), PATIENCE_MS / 2);
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
    const writer = this.#writer("host");
    await this.#insist(async ({ sender }) => {
      const call = writer().invoke("publish", invoked);
      const publishing = beside
        ? this.#inTransaction(event.id, (tx) => sender.publish(publication, { tx }))
        : sender.publish(publication);
      const published = await this.#clock.within(publishing.catch(String), PATIENCE_MS / 2);
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
    await this.#insist(({ sender }) => sender.endpoints.list());
    await this.#insist(async ({ sender: { endpoints } }) => {
      if ((await endpoints.get("ep_gone")) !== undefined) await endpoints.remove("ep_gone");
    });
    await this.#insist(async ({ operator }) => {
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
    const writer = this.#writer("operator");
    await this.#insist(async (life) => {
      const call = writer().invoke("operate", { verb, endpoint: "ep_bad", key });
      const answer = await this.#clock.within(
        act(life).catch((error: unknown) => error),
        PATIENCE_MS / 2,
      );
      if (typeof answer !== "string") {
        call.unknown(String(answer));
        throw new Error("no answer");
      }
      call.ok({ answer });
    });
  }

  /** Does something until it is done. Whoever waits in vain starts the process anew, and asks the new one. */
  async #insist(step: (life: Life) => Promise<unknown>): Promise<void> {
    let last: unknown;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const done = step(this.#life).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      last = await this.#clock.within(done, PATIENCE_MS);
      if (last === undefined) return;
      if (this.#hung) await this.#restart();
      await this.#clock.within(this.#clock.sleep(500), 1000);
    }
    throw new Error(`it was not done in ${MOST_TRIES} tries`, { cause: last });
  }

  /** Waits for what the dispatcher brings about. */
  async #until(what: string, isSo: () => boolean): Promise<void> {
    for (let waitedMs = 0; waitedMs <= 4 * PATIENCE_MS; waitedMs += 500) {
      if (isSo()) return;
      if (this.#hung && waitedMs >= PATIENCE_MS) await this.#restart();
      await this.#clock.within(this.#clock.sleep(500), 1000);
    }
    throw new Error(`it did not come so far that ${what}`);
  }

  /** The old process stays where it hangs; what it still does, it does beside the new one. */
  async #restart(): Promise<void> {
    this.#hung = false;
    this.#fault("restart");
    this.#life = this.#newLife();
    await this.#life.dispatcher.start();
  }

  #newLife(): Life {
    const egressOf = (life: Life) => this.#wire.egressOf(life);
    const { calls } = this;
    return new Life({ db: this.#db, clock: this.#clock, calls, egressOf, flaky: this.#flaky });
  }

  #fault(what: string): void {
    this.#history.writer("tester").see("fault", { what });
  }

  /** A pen for each try: one that hangs is never put down. */
  #writer(who: string): () => ReturnType<History["writer"]> {
    return () => this.#history.writer(`${who}-${++this.#writers}`);
  }
}

function publicationOf(ref: string, beside: boolean) {
  return { tenant: "default", source: "app", id: ref, bodyHash: hashOf(bodyOf(ref)), beside };
}
