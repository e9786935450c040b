import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../../chance.js";
import { signedHeaders } from "../letter.js";
import type { KeyStream, StreamEvent } from "./stream.js";
import type { Supervisor } from "../supervisor.js";

const PATIENCE_MS = 60_000;
const AGAIN_ONE_IN = 5;

export interface SendOptions {
  readonly scope: string;
  readonly chance: Chance;
  /** How many requests are under way at once. */
  readonly senders: number;
}

/** A provider: it sends each key's events one after the other, each until it is acknowledged, and some of them again. */
export class StoredSender {
  readonly #keeper: Supervisor;
  readonly #options: SendOptions;
  readonly #agent = new Agent({ keepAlive: true });
  /** Events that were acknowledged. */
  sent = 0;
  /** Requests of events that had been acknowledged before. */
  again = 0;
  /** Requests without an acknowledgement: each was sent once more. */
  unanswered = 0;

  constructor(keeper: Supervisor, options: SendOptions) {
    this.#keeper = keeper;
    this.#options = options;
  }

  /** Resolves when all events are acknowledged. */
  async send(stream: readonly KeyStream[]): Promise<void> {
    const { senders } = this.#options;
    const shares = Array.from({ length: senders }, (_, n) => stream.filter((_key, k) => k % senders === n));
    try {
      await Promise.all(shares.map((share) => this.#sendShare(share)));
    } finally {
      this.#agent.destroy();
    }
  }

  /** Sends events that were acknowledged before. */
  async sendOnceMore(events: readonly StreamEvent[]): Promise<void> {
    for (const event of events) await this.#untilTaken(event);
    this.#agent.destroy();
  }

  /** Keys in any order; within a key, none before the one before it is acknowledged. */
  async #sendShare(share: readonly KeyStream[]): Promise<void> {
    const { chance } = this.#options;
    const left = share.map((stream) => ({ stream, next: 0 })).filter(({ stream }) => stream.length > 0);
    while (left.length > 0) {
      const n = chance.below(left.length);
      const key = left[n];
      const event = key?.stream[key.next];
      if (key === undefined || event === undefined) return;
      await this.#untilTaken(event);
      this.sent++;
      key.next++;
      if (chance.below(AGAIN_ONE_IN) === 0) await this.#sendAgain(key.stream.slice(0, key.next));
      if (key.next === key.stream.length) left.splice(n, 1);
    }
  }

  async #sendAgain(earlier: readonly StreamEvent[]): Promise<void> {
    this.again++;
    await this.#untilTaken(this.#options.chance.pick(earlier));
  }

  async #untilTaken(event: StreamEvent): Promise<void> {
    const endsAt = performance.now() + PATIENCE_MS;
    while (!(await this.#post(event).catch(() => false))) {
      this.unanswered++;
      if (performance.now() > endsAt) throw new Error(`${idOf(this.#options.scope, event)} was never taken`);
      await sleep(10);
    }
  }

  async #post(event: StreamEvent): Promise<boolean> {
    const id = idOf(this.#options.scope, event);
    const body = Buffer.from(JSON.stringify({ type: "counted", ...event }));
    const path = `/${event.source}`;
    const { port } = await this.#keeper.host();
    const sent = request({
      port,
      host: "127.0.0.1",
      path,
      method: "POST",
      agent: this.#agent,
      headers: {
        ...signedHeaders({ event: { tenant: "default", source: event.source, id }, body, genuine: true }),
        "content-length": body.length,
      },
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return (response.statusCode ?? 0) < 300;
  }
}

/** The id under which an event is sent. */
export function idOf(scope: string, { key, version }: StreamEvent): string {
  return `${scope}-${key}-${version}`;
}
