import { createSigner, sign } from "posthorn";
import type { TransactionMode } from "posthorn";
import { createChecker, createHistory } from "posthorn/testing";
import type { History, HistoryReport } from "posthorn/testing";
import type { FailingRun } from "../every-call.js";
import { Insistence } from "../insistence.js";
import { SECRET } from "../life.js";
import { LATE, QuickClock } from "../quick-clock.js";
import type { Failure, StoreCalls } from "../store-calls.js";
import { hashOf } from "../wire.js";
import { Deeds } from "./deeds.js";
import type { Ground } from "./form.js";
import { storedLife } from "./life.js";
import type { StoredLife } from "./life.js";
import { haltedIn, pendingIn, readEnd } from "./read-end.js";

interface Sending {
  readonly id: string;
  readonly type: string;
  readonly key?: string;
  readonly text?: string;
}

/** Of one key: one that fails once between two others; a batch, of which one cannot be handled at first; a long one and one behind it. */
const STREAM: readonly Sending[] = [
  { id: "one", type: "paid", key: "a" },
  { id: "flaky", type: "paid", key: "a" },
  { id: "three", type: "paid", key: "a" },
  { id: "first", type: "read", key: "b" },
  { id: "cursed", type: "read", key: "b" },
  { id: "last", type: "read", key: "b" },
  { id: "long", type: "report", key: "c" },
  { id: "behind", type: "paid", key: "c" },
  { id: "alone", type: "paid" },
  { id: "strange", type: "unheard", key: "a" },
];
/** What is handled again in the end, and by whom. */
const AGAIN: readonly (readonly [consumer: string, id: string])[] = [
  ["books", "one"],
  ["crm", "one"],
  ["books", "long"],
];
/** One for each event at each consumer, but for the type that `books` has no handler for; and what is handled again. */
export const EFFECTS = 2 * STREAM.length - 1 + AGAIN.length;

/** How often the long handler has its event. */
const LONG_ROUNDS = 2;

const named = (id: string) => ({ tenant: "default", source: "shop", id });

/** A database, the processes on it, and those who watch: one run of stored events, of which one call to a store fails. */
export class StoredWorld<Tx, Mode extends TransactionMode> implements FailingRun {
  readonly #deeds: Deeds;
  readonly #clock = new QuickClock(Date.UTC(2030, 0, 1));
  readonly #checker = createChecker();
  readonly #history: History = createHistory({
    write: (record) => this.#checker.observe(record),
    clock: this.#clock,
  });
  readonly #ground: Ground<Tx, Mode>;
  readonly #host: Insistence<StoredLife>;

  constructor(groundOn: (clock: QuickClock) => Ground<Tx, Mode>, failure: Failure) {
    const [clock, history] = [this.#clock, this.#history];
    const ground = groundOn(clock);
    const deeds = new Deeds(clock);
    this.#deeds = deeds;
    this.#ground = ground;
    this.#host = new Insistence({
      failure,
      clock,
      history,
      begin: (calls) => storedLife({ ground, deeds, clock, calls }),
      start: (life) => life.worker.start(),
    });
  }

  get calls(): StoreCalls {
    return this.#host.calls;
  }

  /** The call that failed. */
  get failed(): string | undefined {
    return this.#host.failed;
  }

  /** A step that was done twice, or not at all; and without a failure a batch has many events, or it would be none. */
  get harm(): string | undefined {
    const { charged, largestBatch } = this.#deeds;
    const charges = [...charged.values()];
    if (charges.length !== LONG_ROUNDS || charges.some((times) => times !== 1))
      return `of ${LONG_ROUNDS} steps, ${charges.length} were done: ${charges.join()} times`;
    // What lapsed is handled one by one.
    return largestBatch > 1 || this.failed !== undefined ? undefined : "no batch had two events";
  }

  /** Stores, handles, fails, gives up, pauses, redrives and replays. Throws when it does not come to rest. */
  async run(): Promise<HistoryReport> {
    const host = this.#host;
    const store = this.#ground.store();
    for (const consumer of ["books", "crm"])
      this.#history.writer("tester").see("consumer", { consumer, source: "shop", order: "key" });
    await host.insist(({ worker }) => worker.start());
    await host.insist(({ operator }) => operator.pause("books", { because: "a batch is to gather" }));
    await this.#receive();
    await host.insist(({ operator }) => operator.resume("books"));
    await host.until("one lane has stopped, and nothing else waits", async () => {
      return (await haltedIn(store)) === 1 && (await pendingIn(store)) === 0;
    });
    await this.#redrive();
    await host.until(
      "the dead letter is handled",
      async () => (await haltedIn(store)) + (await pendingIn(store)) === 0,
    );
    await this.#replay();
    await host.until("the replays are handled", async () => (await pendingIn(store)) === 0);
    await host.insist(({ receiver }) => receiver.flush());
    await host.insist(({ receiver }) => receiver.purge());
    await host.insist(({ worker }) => worker.stop());
    await readEnd(this.#ground, this.#history.writer("reader"));
    this.#ground.close();
    return this.#checker.end();
  }

  /** Of a provider: each event after the one before it was taken; one comes again, and one with another body. */
  async #receive(): Promise<void> {
    for (const sending of STREAM) await this.#deliver(sending);
    await this.#deliver({ id: "one", type: "paid", key: "a" });
    await this.#deliver({ id: "first", type: "read", key: "b", text: "another body" });
  }

  async #deliver({ id, ...content }: Sending): Promise<void> {
    const body = Buffer.from(JSON.stringify(content));
    const signer = createSigner({ secrets: SECRET, clock: this.#clock });
    const provider = this.#host.writer("provider");
    await this.#host.insist(async ({ receiver }) => {
      const sent = { ...named(id), bodyHash: hashOf(body), genuine: true, key: content.key };
      const call = provider().invoke("send", sent);
      const headers = await sign(signer, { id, body });
      const reply = await this.#host.answered(receiver.receive("shop", { headers, body }));
      if (reply === LATE) {
        call.unknown("no answer");
        throw new Error("no answer");
      }
      call.ok({ status: reply.status, verdict: reply.headers?.["posthorn-verdict"] });
      if (reply.status >= 500) throw new Error(`answered with ${reply.status}`);
    });
  }

  /** A person mends the handler, and redrives what has died of it. */
  async #redrive(): Promise<void> {
    this.#deeds.mended = true;
    await this.#host.insist(async ({ operator }) => {
      for (const { id } of (await operator.deadLetters()).items) await operator.redrive(id);
    });
  }

  /** The round is named, so that whoever asks again asks for the same. */
  async #replay(): Promise<void> {
    const person = this.#host.writer("operator");
    for (const [consumer, id] of AGAIN) {
      await this.#host.insist(async ({ operator }) => {
        const call = person().invoke("replay", { ...named(id), consumer, round: 2 });
        const asked = operator.replay([{ ...named(id), consumer, round: 1 }]);
        const answers = await this.#host.answered(asked.catch((error: unknown) => String(error)));
        if (answers === LATE || typeof answers === "string") {
          call.unknown(String(answers));
          throw new Error("no answer");
        }
        call.ok({ answer: String(answers[0]) });
      });
    }
  }
}
