import { setTimeout as sleep } from "node:timers/promises";
import type { HandlerRemoved } from "../../../library/src/lanes/handler-consumer.js";
import type { DeadRound } from "../../../library/src/operator/dead-store.js";
import type { HeldRecord, HeldReleased } from "../../../library/src/operator/held-store.js";
import type { Forgotten, StagedAgain } from "../../../library/src/operator/replay-store.js";
import type { AppliedRow, StoredDatabase } from "./database.js";
import { idOf } from "./sender.js";
import type { StoredSender } from "./sender.js";
import type { KeyStream, StreamEvent } from "./stream.js";
import { CONSUMERS, nameOfEffect } from "./verdict.js";
import type { Supervisor } from "../supervisor.js";

export interface StoredDeedsParts {
  readonly operator: Supervisor;
  readonly sender: StoredSender;
  readonly database: StoredDatabase;
  readonly stream: readonly KeyStream[];
  readonly scope: string;
}

const PATIENCE_MS = 60_000;
// A consumer that is held would be judged by its first round alone.
const REPLAYED: ReadonlySet<string> = new Set(["single", "many", "latest", "jobs"]);
const MOST_LETTERS = 100;

/** A person's deeds. The operator may be killed during each: whoever asked asks again, as after any answer that was lost. */
export class StoredDeeds {
  /** How many rounds more than one were asked for, by `nameOfEffect`. */
  readonly rounds = new Map<string, number>();
  redriven = 0;
  readonly #marked = new Set<string>();
  readonly #parts: StoredDeedsParts;
  readonly #events: ReadonlyMap<string, StreamEvent>;

  constructor(parts: StoredDeedsParts) {
    this.#parts = parts;
    this.#events = new Map(parts.stream.flat().map((event) => [`${event.key} ${event.place}`, event]));
  }

  /** Replays some of what was applied, each event at most once for a consumer. Says how many. */
  async replay(most: number): Promise<number> {
    const { applied } = await this.#parts.database.rows();
    const rows = applied.filter((row) => REPLAYED.has(row.consumer) && !this.#isAgain(row));
    // The newest: what waits behind them is handled at the same time.
    const chosen = rows.slice(-most);
    // Of a row in progress nothing is known: nobody waits for it, and it is asked for again.
    for (let left = chosen; left.length > 0;) {
      const asked = left;
      const answers = await this.#ask<readonly StagedAgain[]>(
        "/replay",
        asked.map((row) => this.#roundOf(row)),
      );
      left = asked.filter((_, n) => answers[n] === "busy");
      for (const [n, row] of asked.entries()) this.#note(row, answers[n]);
      if (left.length > 0) await sleep(20);
    }
    return chosen.length;
  }

  /** Redrives what is dead, so many at most. Says how many there were. */
  async redrive(most: number = MOST_LETTERS): Promise<number> {
    const { items } = await this.#parts.database.outbox.deadLetters({ limit: most });
    const letters: DeadRound[] = items.map(({ id, round }) => ({ id, round }));
    if (letters.length === 0) return 0;
    const answers = await this.#ask<readonly string[]>("/redrive", letters);
    const strange = answers.filter((answer) => answer !== "in_place" && answer !== "before");
    if (strange.length > 0)
      throw new Error(`dead letters at the heads of their lanes were ${strange.join()}`);
    this.redriven += letters.length;
    return letters.length;
  }

  /** Forgets an event that was applied, and lets its provider send it again. */
  async forget(): Promise<void> {
    const { applied } = await this.#parts.database.rows();
    const row = applied.findLast((each) => each.consumer === "single" && !this.#isAgain(each));
    const event = row && this.#eventOf(row);
    if (event === undefined) throw new Error("nothing was applied that could be forgotten");
    const name = { tenant: "default", source: event.source, id: idOf(this.#parts.scope, event) };
    let { kind } = await this.#ask<Forgotten>("/forget", name);
    for (; kind === "busy"; { kind } = await this.#ask<Forgotten>("/forget", name)) await sleep(20);
    // Unknown: the answer that it was forgotten has been lost.
    if (kind !== "forgotten" && kind !== "unknown") throw new Error(`the event was ${kind}`);
    for (const consumer of CONSUMERS[event.source]) this.#addRound(nameOfEffect(consumer, event));
    await this.#parts.sender.sendOnceMore([event]);
  }

  /** Calls an event applied that has died, after its effect was made by hand. */
  async mark(): Promise<void> {
    const { database } = this.#parts;
    const { items } = await database.outbox.deadLetters({ limit: MOST_LETTERS });
    const letter = items.find(({ eventId }) => !this.#marked.has(eventId));
    const event = letter && (await database.outbox.event(letter.tenant, letter.eventId));
    if (letter === undefined || event === undefined)
      throw new Error("nothing is dead that could be called applied");
    const { tenant, endpointId, eventId } = letter;
    const consumer = endpointId.replace(/^hnd_/, "");
    const { key, place, version } = JSON.parse(Buffer.from(event.body).toString()) as StreamEvent;
    await database.applyByHand({ consumer, key, place, version });
    // False: it was marked by a call whose answer was lost.
    await this.#ask<boolean>("/mark", { tenant, eventId, consumer });
    this.#marked.add(eventId);
  }

  /** Lets an event be sent that has to wait for others of its key, and releases it. */
  async release(event: StreamEvent): Promise<void> {
    const { sender } = this.#parts;
    await sender.sendOnceMore([event]);
    const { source, key } = event;
    const held = await this.#untilHeld({ source, key });
    const released = await this.#ask<HeldReleased>("/release", held);
    // Unknown: it was released by a call whose answer was lost.
    if (released.kind === "released" && released.events === 0)
      throw new Error("an event was released, and is still held");
  }

  async #untilHeld(key: { readonly source: string; readonly key: string }): Promise<unknown> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const [held] = await this.#ask<readonly HeldRecord[]>("/held", key);
      if (held !== undefined) return { tenant: held.tenant, eventId: held.eventId };
      if (performance.now() > endsAt) throw new Error(`nothing of ${key.key} is held`);
      await sleep(20);
    }
  }

  /** Registers handlers that no worker will ever have. */
  async register(ids: readonly string[]): Promise<void> {
    await this.#ask("/register", ids);
  }

  /** Removes a handler, whatever waits for it. */
  async remove(id: string): Promise<void> {
    const removed = await this.#ask<HandlerRemoved>("/remove", id);
    // Unknown: it was removed by a call whose answer was lost.
    if (removed !== "removed" && removed !== "unknown")
      throw new Error(`a handler without a worker was ${removed}`);
  }

  #note(row: AppliedRow, answer: StagedAgain | undefined): void {
    if (answer === "busy") return;
    // Before: it was staged by a call whose answer was lost.
    if (answer !== "staged" && answer !== "before") throw new Error(`an applied event was ${answer}`);
    this.#addRound(nameOfEffect(row.consumer, row));
  }

  #addRound(name: string): void {
    this.rounds.set(name, (this.rounds.get(name) ?? 0) + 1);
  }

  #isAgain(row: AppliedRow): boolean {
    return this.rounds.has(nameOfEffect(row.consumer, row));
  }

  #roundOf(row: AppliedRow) {
    const event = this.#eventOf(row);
    const { source } = event;
    return {
      tenant: "default",
      source,
      id: idOf(this.#parts.scope, event),
      consumer: row.consumer,
      round: 1,
    };
  }

  #eventOf({ key, place }: AppliedRow): StreamEvent {
    const event = this.#events.get(`${key} ${place}`);
    if (event === undefined) throw new Error(`${key} ${place} was never sent`);
    return event;
  }

  async #ask<Answer>(path: string, body: unknown): Promise<Answer> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return (await (await this.#parts.operator.host()).ask(path, body)) as Answer;
      } catch (error) {
        if (performance.now() > endsAt) throw error;
        await sleep(20);
      }
    }
  }
}
