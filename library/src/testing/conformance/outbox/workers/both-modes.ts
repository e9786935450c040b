import { utf8 } from "../../../../bytes.js";
import { DEFAULT_HANDLER } from "../../../../consumer-name.js";
import type { Acceptance, Handled } from "../../../../inbox/inbox-store.js";
import type { Applied } from "../../../../inbox/worker/worker-store.js";
import type { Claimable } from "../../../../lanes/lane-store.js";
import { alike, same, soon } from "../../expectation.js";
import { arrivalOf } from "../../inbox/harness.js";
import { apply, published } from "./applying.js";
import { A, register, store } from "./handlers.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import { addEndpoint, claimOne, eventOf, outboxOf, runOf } from "../steps.js";

/** The handlers of a worker that were given no name: those of a receiver, in the other mode. */
const UNNAMED: Claimable = { kind: "handler", ids: [DEFAULT_HANDLER] };

/** What is promised while a host goes over from one mode to the other, and its events come in both. */
export const outboxBothModes: readonly OutboxPledge[] = [
  {
    name: "an event that comes once in each mode is applied once, where it was applied in its request first",
    async check(bench) {
      await prepare(bench);
      same((await accept(bench, "e1")).kind, "applied", "accept in its request");
      await store(bench, ["e1", "e2"]);
      const head = await claimOne(bench, { of: UNNAMED });
      const duplicate = (await apply(bench, head, { next: true })) as Applied & { kind: "duplicate" };
      alike([duplicate.kind, duplicate.next && runOf(duplicate.next)], ["duplicate", "e2"], "apply");
      same(await published(bench), "r_e1", "what was published");
    },
  },
  {
    name: "an event that comes once in each mode is applied once, where it was applied from the store first",
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1"]);
      same((await apply(bench, await claimOne(bench, { of: UNNAMED }))).kind, "applied", "apply");
      same((await accept(bench, "e1")).kind, "duplicate", "accept in its request");
      same((await accept(bench, "e1", { body: "another" })).kind, "conflict", "accept of another body");
      same(await published(bench), "p_e1", "what was published");
    },
  },
  {
    name: "an event is busy in one mode while it is applied in the other",
    needs: ["awaitingHandlers", "manyConnections"],
    async check(bench) {
      await prepare(bench);
      await store(bench, ["e1", "e2"]);
      const stored = await claimOne(bench, { of: UNNAMED });
      const besideRequest: Applied[] = [];
      const during = async (): Promise<void> => void besideRequest.push(await apply(bench, stored));
      same((await accept(bench, "e1", { during })).kind, "applied", "accept in its request");
      alike(besideRequest, [{ kind: "busy" }], "apply beside it");
      const { next } = (await apply(bench, stored, { next: true })) as Applied & { kind: "duplicate" };
      const besideWorker: Acceptance[] = [];
      const meanwhile = async (): Promise<void> => void besideWorker.push(await accept(bench, "e2"));
      const second = next ?? (await claimOne(bench, { of: UNNAMED }));
      same((await apply(bench, second, { during: meanwhile })).kind, "applied", "apply");
      alike(besideWorker, [{ kind: "busy" }], "accept beside it");
      same((await accept(bench, "e2")).kind, "duplicate", "accept after it");
      same(await published(bench), "r_e1 p_e2", "what was published");
    },
  },
  {
    name: "handlers with a name apply an event once for themselves, also where it was applied in its request",
    async check(bench) {
      await prepare(bench);
      await register(bench, {});
      same((await accept(bench, "e1")).kind, "applied", "accept in its request");
      await store(bench, ["e1"]);
      same((await apply(bench, await claimOne(bench, { of: A }))).kind, "applied", "apply");
      same((await accept(bench, "e1")).kind, "duplicate", "accept after it");
      same(await published(bench), "r_e1 p_e1", "what was published");
    },
  },
];

async function prepare(bench: OutboxBench): Promise<void> {
  await addEndpoint(bench);
  await register(bench, { id: DEFAULT_HANDLER });
}

interface Accepting {
  readonly body?: string;
  /** Awaited inside of the handler, after it has published. */
  readonly during?: () => Promise<void>;
}

const SUCCESS: Handled = { outcome: "success" };

/** Accepts in its request what `store` has under this id, by a handler that publishes `r_` and the id. */
async function accept(
  bench: OutboxBench,
  id: string,
  { body = id, during }: Accepting = {},
): Promise<Acceptance> {
  const outbox = outboxOf(bench);
  const effect = await eventOf({ id: `r_${id}` });
  const work = (tx: unknown): Promise<Handled> | Handled => {
    const written: unknown = outbox.write([effect], tx);
    if (outbox.transactions === "synchronous") return SUCCESS;
    return Promise.resolve(written)
      .then(during)
      .then(() => SUCCESS);
  };
  const limits = { acquireMs: 5000, signal: new AbortController().signal };
  const accepting = outbox.accept(await arrivalOf({ id, body: utf8(body) }), work, limits);
  return soon(accepting, `accept of ${id}`, bench.patienceMs);
}
