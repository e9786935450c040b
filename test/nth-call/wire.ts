import { createHash } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { History, Operations } from "posthorn/testing";
import type { Egress, EgressAnswer, OutgoingRequest } from "../../library/src/delivery/egress/egress.js";
import type { Life } from "./life.js";
import { refOf, SECRET } from "./life.js";
import type { QuickClock } from "./quick-clock.js";
import { LATE } from "./quick-clock.js";

export interface WireParts {
  readonly history: History;
  readonly clock: QuickClock;
  /** Events that their endpoint does not take. */
  readonly refusing: ReadonlySet<string>;
}

/** Everything between the dispatcher and its endpoints. What goes to `ep_loop` comes back to a receiver of the same host. */
export class Wire {
  readonly #parts: WireParts;
  #posts = 0;

  constructor(parts: WireParts) {
    this.#parts = parts;
  }

  egressOf(life: Life): Egress {
    return { post: (request) => this.#post(life, request), close: () => Promise.resolve() };
  }

  async #post(life: Life, request: OutgoingRequest): Promise<EgressAnswer> {
    const { clock, history } = this.#parts;
    const startedAt = clock.monotonic();
    const call = history.writer(`wire-${++this.#posts}`).invoke("receipt", seenIn(request));
    // A hop takes its time, so that what is under way can be met by something.
    await clock.sleep(5);
    const answered = this.#answer(life, request);
    const status = await Promise.race([
      answered,
      clock.sleep(request.deadlineMs).then((): typeof LATE => LATE),
    ]);
    const durationMs = clock.monotonic() - startedAt;
    if (status === LATE) {
      call.unknown("no answer");
      return { outcome: { kind: "unknown", reason: "timeout" }, answer: undefined, durationMs };
    }
    call.ok({ status });
    const outcome = { kind: status < 300 ? "acknowledged" : "refused", status } as const;
    return { outcome, answer: undefined, durationMs };
  }

  async #answer({ receiver }: Life, { url, headers, body }: OutgoingRequest): Promise<number> {
    if (!url.endsWith("/ep_loop")) return this.#parts.refusing.has(refOf(body)) ? 500 : 204;
    const name = { tenant: "default", source: "loop", id: headers["webhook-id"] ?? "" };
    const writer = this.#parts.history.writer(`loop-${this.#posts}`);
    const call = writer.invoke("send", { ...name, bodyHash: hashOf(body), genuine: true });
    const reply = await receiver.receive("loop", { headers, body, method: "POST" });
    call.ok({ status: reply.status, verdict: reply.headers?.["posthorn-verdict"] });
    return reply.status;
  }
}

export function hashOf(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

function seenIn({ url, headers, body }: OutgoingRequest): Operations["receipt"]["invoke"] {
  const key = headers["posthorn-key"];
  const place = {
    key: decodeURIComponent(key ?? ""),
    generation: headers["posthorn-generation"] ?? "",
    sequence: headers["posthorn-sequence"] ?? "",
  };
  return {
    tenant: "default",
    source: "app",
    id: refOf(body),
    bodyHash: hashOf(body),
    endpoint: url.slice(url.lastIndexOf("/") + 1),
    wireId: headers["webhook-id"] ?? "",
    attempt: Number(headers["posthorn-attempt"]),
    replay: headers["posthorn-replay"] === "1",
    genuine: isGenuine(headers, body),
    ...(key !== undefined && { place, after: headers["posthorn-after"] }),
  };
}

/** By a verifier of somebody else's. It looks at the machine's clock, which is not the one of the run. */
function isGenuine(headers: Readonly<Record<string, string>>, body: Uint8Array): boolean {
  const id = headers["webhook-id"] ?? "";
  const at = new Date(Number(headers["webhook-timestamp"]) * 1000);
  const signed = new Webhook(SECRET).sign(id, at, Buffer.from(body).toString());
  return (headers["webhook-signature"] ?? "").split(" ").includes(signed);
}
