import type { FastifyInstance } from "fastify";
import type { ServerParts } from "../../parts.js";
import { problem } from "../problem.js";

const METHODS = ["GET", "HEAD"];
const RETRY_S = 2;

/** /healthz, for what restarts the process, and /readyz, for what sends traffic to it. */
export function registerHealth(app: FastifyInstance, parts: ServerParts): void {
  const probe = new ReadinessProbe(parts);
  // Does not ask the store: restarting the process would not bring the database back.
  app.route({ method: METHODS, url: "/healthz", schema: { hide: true }, handler: () => ({ status: "ok" }) });
  app.route({
    method: METHODS,
    url: "/readyz",
    schema: { hide: true },
    handler: async () => {
      const answer = await probe.ask();
      if (answer.ready) return { status: "ready" };
      throw problem("not_ready", answer.why, { retryAfterS: RETRY_S });
    },
  });
}

/** Whether the database accepts writes, and why not. */
type Readiness = { readonly ready: true } | { readonly ready: false; readonly why: string };

// Load balancers ask every second; not every answer may be a write.
const CACHE_MS = 1000;
const DEADLINE_MS = 2000;

/** Writes to find out: a database that is full, read-only or hanging can still be read. */
class ReadinessProbe {
  readonly #parts: Pick<ServerParts, "registry" | "node" | "clock" | "log">;
  #last: { readonly atMs: number; readonly answer: Promise<Readiness> } | undefined;
  #underWay: Promise<Readiness> | undefined;

  constructor(parts: Pick<ServerParts, "registry" | "node" | "clock" | "log">) {
    this.#parts = parts;
  }

  ask(): Promise<Readiness> {
    const nowMs = this.#parts.clock.monotonic();
    if (this.#last !== undefined && nowMs - this.#last.atMs < CACHE_MS) return this.#last.answer;
    // A write that hangs stays the only one: more would fill the pool.
    this.#underWay ??= this.#write().finally(() => (this.#underWay = undefined));
    const answer = Promise.race([this.#underWay, this.#late()]);
    this.#last = { atMs: nowMs, answer };
    return answer;
  }

  async #write(): Promise<Readiness> {
    try {
      await this.#parts.registry.probeWrite(this.#parts.node);
      return { ready: true };
    } catch (error) {
      this.#parts.log.warn({ err: error }, "the write probe failed");
      return { ready: false, why: "The database refused a write; the log says why." };
    }
  }

  async #late(): Promise<Readiness> {
    await this.#parts.clock.sleep(DEADLINE_MS);
    return { ready: false, why: `The database did not answer a write within ${DEADLINE_MS} ms.` };
  }
}
