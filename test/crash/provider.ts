import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { History, HistoryWriter } from "posthorn/testing";
import { hashOf } from "./end-state.js";
import type { Letter } from "./letter.js";
import { signedHeaders } from "./letter.js";

export interface ProviderOptions {
  readonly history: History;
  /** Where the receiver listens now; waits while it is down. */
  readonly port: () => Promise<number>;
  /** Looks for the effect after every acknowledgement. */
  readonly look?: (letter: Letter) => Promise<number>;
}

/** What became of one delivery: a reply, or nothing that is known. */
export interface Delivery {
  readonly status: number | undefined;
  readonly verdict: string | undefined;
}

const ANSWER_MS = 8000;
const PATIENCE_MS = 45_000;
const LONGEST_PAUSE_MS = 100;

/** Sends events as providers do: the same id again until it is acknowledged, whatever happens in between. */
export class Provider {
  readonly #options: ProviderOptions;
  readonly #agent = new Agent({ keepAlive: true });
  /** How many replies came, of whatever kind. */
  replies = 0;
  #writers = 0;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** Delivers until the answer is final, and says how all deliveries ended. Throws when that takes too long: an event that is never taken is lost. */
  async deliver(letter: Letter): Promise<readonly Delivery[]> {
    const writer = this.writer();
    const endsAt = performance.now() + PATIENCE_MS;
    const deliveries: Delivery[] = [];
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const delivery = await this.once(letter, writer);
      deliveries.push(delivery);
      const { status } = delivery;
      if (status !== undefined && status < 500) return deliveries;
      if (performance.now() > endsAt) {
        const said = deliveries.map((each) => `${each.status} ${each.verdict}`).slice(-5);
        throw new Error(`${letter.event.id} was never taken; the last answers: ${said.join(", ")}`);
      }
      await sleep(pauseMs);
    }
  }

  writer(): HistoryWriter {
    return this.#options.history.writer(`sender-${++this.#writers}`);
  }

  /** Delivers once. */
  async once(letter: Letter, writer: HistoryWriter): Promise<Delivery> {
    const { port, look } = this.#options;
    const to = await port();
    const { event, body, genuine } = letter;
    const call = writer.invoke("send", { ...event, bodyHash: hashOf(body), genuine });
    try {
      const response = await post(to, letter, this.#agent);
      const status = response.statusCode ?? 0;
      const verdict = response.headers["posthorn-verdict"] as string | undefined;
      call.ok({ status, verdict });
      this.replies++;
      if (look && status < 300 && verdict !== "conflict") await this.#look(letter, writer, look);
      return { status, verdict };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // Nobody listened: not a byte was sent.
      if (code === "ECONNREFUSED") call.fail(code);
      else call.unknown(code ?? message);
      return { status: undefined, verdict: undefined };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #look(
    letter: Letter,
    writer: HistoryWriter,
    look: (letter: Letter) => Promise<number>,
  ): Promise<void> {
    const call = writer.invoke("look", letter.event);
    try {
      call.ok({ effects: await look(letter) });
    } catch (error) {
      call.unknown(error instanceof Error ? error.message : String(error));
    }
  }
}

async function post(port: number, letter: Letter, agent: Agent): Promise<IncomingMessage> {
  const sent = request({
    port,
    host: "127.0.0.1",
    path: letter.path,
    method: "POST",
    agent,
    headers: { ...signedHeaders(letter), "content-length": letter.body.length },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  sent.end(letter.body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  // A reply counts when it is whole: what broke off in the middle promised nothing.
  await once(response, "end");
  return response;
}
