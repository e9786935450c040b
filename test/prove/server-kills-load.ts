import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { History, HistoryWriter } from "posthorn/testing";
import type { Chance } from "../chance.js";
import { hashOf } from "../crash/end-state.js";
import { ENDPOINTS } from "../crash/endpoints.js";
import { signedHeaders } from "../crash/letter.js";

/** What the provider of this load signs with. */
export const PROVIDER_SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";
/** The header in which its events have their key. */
export const KEY_HEADER = "x-key";

export interface LoadOptions {
  /** The server; `ready` resolves when one runs. */
  readonly gateway: { readonly url: string; ready(): Promise<void> };
  readonly history: History;
  readonly chance: Chance;
  /** Begins the id of each event. */
  readonly scope: string;
}

const PROVIDERS = 6;
const LONGEST_PAUSE_MS = 30;
// Lanes whose head was under way in a killed server wait for seconds: there must be others that move meanwhile.
const KEYS = 150;
const PATIENCE_MS = 60_000;

interface Posted {
  readonly id: string;
  readonly key: string;
  readonly body: Buffer;
}

/** A provider that posts signed events, each until it is answered with success, as providers do. */
export class ProviderLoad {
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #providers: Promise<void>[];
  #stopped = false;
  #begun = 0;
  /** How many events were answered with success. */
  answered = 0;
  /** How many requests were called duplicates. */
  duplicates = 0;
  /** How many requests are not answered yet. */
  underWay = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#providers = Array.from({ length: PROVIDERS }, () => this.#provide());
    // Told by `stop`; until then, one that failed must not end the process.
    for (const provider of this.#providers) provider.catch(() => undefined);
  }

  /** Waits until so many more were answered; throws where that takes too long. */
  async posted(more: number): Promise<void> {
    const wanted = this.answered + more;
    const endsAt = performance.now() + PATIENCE_MS;
    while (this.answered < wanted && !this.#stopped) {
      if (performance.now() > endsAt) throw new Error(`no ${more} events were answered in ${PATIENCE_MS} ms`);
      await sleep(3);
    }
  }

  /** Waits until every event is answered; throws where one never was. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#providers);
    this.#agent.destroy();
  }

  async #provide(): Promise<void> {
    const { chance, scope } = this.#options;
    while (!this.#stopped) {
      const id = `${scope}-${++this.#begun}`;
      const key = chance.below(8) === 0 ? "" : `k${chance.below(KEYS)}`;
      const filler = chance.below(8) === 0 ? chance.bytes(9000) : chance.bytes(20);
      const posted = { id, key, body: Buffer.concat([Buffer.from(`${id}\n`), filler]) };
      // Some come twice at once, as from a provider whose own retries overlap.
      const times = chance.below(6) === 0 ? 2 : 1;
      await Promise.all(Array.from({ length: times }, (_, n) => this.#untilAnswered(posted, n)));
      this.answered++;
      await sleep(chance.below(LONGEST_PAUSE_MS));
    }
  }

  async #untilAnswered(posted: Posted, n: number): Promise<void> {
    const writer = this.#options.history.writer(`provider-${posted.id}-${n}`);
    const endsAt = performance.now() + PATIENCE_MS;
    while (!(await this.#post(posted, writer))) {
      if (performance.now() > endsAt) throw new Error(`${posted.id} was not answered in ${PATIENCE_MS} ms`);
      await sleep(20);
      // Providers wait longer between their tries; who knocked all the time would only take the server's core.
      await this.#options.gateway.ready();
    }
  }

  async #post({ id, key, body }: Posted, writer: HistoryWriter): Promise<boolean> {
    const event = { tenant: "default", source: "app", id };
    const endpoints = ENDPOINTS.slice(0, 1);
    const call = writer.invoke("publish", { ...event, bodyHash: hashOf(body), endpoints, beside: false });
    this.underWay++;
    try {
      const letter = { event, body, path: "/shop", genuine: true } as const;
      const answer = await this.#request({ ...signedHeaders(letter), [KEY_HEADER]: key }, body);
      const status = answer.statusCode ?? 0;
      const verdict = String(answer.headers["posthorn-verdict"]);
      if (status >= 300 && status < 500) throw new Error(`${id} was refused with ${status} ${verdict}`);
      if (status >= 500) call.unknown(String(status));
      else call.ok({ duplicate: verdict === "duplicate" });
      if (verdict === "duplicate") this.duplicates++;
      return status < 300;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      // Nobody was there: nothing can have come of it.
      if (code === "ECONNREFUSED") call.fail(message);
      else call.unknown(message);
      return false;
    } finally {
      this.underWay--;
    }
  }

  async #request(headers: Readonly<Record<string, string>>, body: Buffer): Promise<IncomingMessage> {
    const sent = request(`${this.#options.gateway.url}/in/shop`, {
      method: "POST",
      agent: this.#agent,
      headers: { ...headers, "content-length": String(body.length) },
    });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.resume();
    await once(answer, "end");
    return answer;
  }
}
