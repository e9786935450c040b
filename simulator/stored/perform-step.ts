import { StoredDeeds } from "./deeds.js";
import { GONE, handlerId } from "./names.js";
import type { Working } from "./node.js";
import { StoredOperator } from "./operator.js";
import type { Asks } from "./operator.js";
import type { StoredStep } from "./script.js";
import type { StoredWorld } from "./world.js";

type StepOf<Kind extends StoredStep["kind"]> = Extract<StoredStep, { kind: Kind }>;

// Every script removes later than this, and whoever registers does so at its beginning.
const UNSEEN_MS = 500;

/** Does one step of the script to the world, or lets its users do it. */
export function performStoredStep(world: StoredWorld, step: StoredStep): void {
  switch (step.kind) {
    case "send":
      return world.provider.send(step.event, step.trips);
    case "store":
      return world.nodes[step.node]?.machine.armStore(step.call, step.how);
    case "power":
      return world.database.losePower(step.unsyncedMs, step.forMs);
    case "crash":
    case "restart":
    case "stop":
    case "clock":
      return harm(world, step);
    case "redrive":
    case "skip":
    case "replay":
    case "pause":
    case "resume":
    case "redrive_refused":
    case "forget":
    case "release":
    case "reconcile":
    case "remove":
      return intervene(world, step);
    case "conflict":
      return world.provider.sendConflict(step.event, step.of);
  }
}

function harm(
  { log, nodes, scheduler }: StoredWorld,
  step: StepOf<"crash" | "restart" | "stop" | "clock">,
): void {
  const node = nodes[step.node];
  const running = node?.running;
  if (node === undefined || running === undefined) return;
  log.fault(step.kind);
  switch (step.kind) {
    case "crash":
      node.machine.crash();
      scheduler.after(step.forMs, () => node.start());
      return;
    case "restart":
      void node.stopGently().then(() => scheduler.after(step.forMs, () => node.start()));
      return;
    case "stop":
      running.life.stop();
      scheduler.after(step.forMs, () => running.life.goOn());
      return;
    case "clock":
      return node.machine.turnClock(step.byMs);
  }
}

type Intervention = StepOf<
  | "redrive"
  | "skip"
  | "replay"
  | "pause"
  | "resume"
  | "redrive_refused"
  | "forget"
  | "release"
  | "reconcile"
  | "remove"
>;

function intervene(world: StoredWorld, step: Intervention): void {
  const running = world.runningOf(step.node)?.running;
  if (running === undefined) return;
  const { log } = world;
  log.count(`operator.${step.kind}`);
  // An operator whose page shows an error looks again later.
  running.life.do(() => void deedOf(world, running, step).catch(() => log.count("operator.error")));
}

async function deedOf(world: StoredWorld, running: Working, step: Intervention): Promise<unknown> {
  const { line, lineWorker, keeper } = running;
  const { store, log, numbers, database, script, provider, events } = world;
  const ask: Asks = (call, doing) => line.ask(call, doing);
  const parts = { store, database: database.index, log, numbers, ask };
  const operator = new StoredOperator(parts);
  const deeds = new StoredDeeds({ ...parts, keeper, lineWorker, provider, events });
  const consumers = script.consumers.map(({ name }) => name);
  switch (step.kind) {
    case "redrive":
      return operator.redriveAll(step.clicks);
    case "skip":
      return operator.skip(step.clicks);
    case "replay":
      return operator.again(consumers, step.rows, step.clicks);
    case "pause":
      return lineWorker.pauseHandler(handlerId(step.consumer), { forMs: step.forMs, because: "asked" });
    case "resume":
      return lineWorker.resumeHandler(handlerId(step.consumer));
    case "redrive_refused":
      return deeds.redriveRefused(step.clicks);
    case "forget":
      return deeds.forget(step.nth);
    case "release":
      return deeds.release(step.clicks);
    case "reconcile":
      return deeds.reconcile(step);
    case "remove":
      await operator.removeLive(consumers[0] ?? GONE);
      return operator.removeGone(UNSEEN_MS);
  }
}
