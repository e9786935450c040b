import { handlerId } from "./names.js";
import { StoredOperator } from "./operator.js";
import type { StoredStep } from "./script.js";
import type { StoredWorld } from "./world.js";

type StepOf<Kind extends StoredStep["kind"]> = Extract<StoredStep, { kind: Kind }>;

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
      return intervene(world, step);
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

function intervene(
  world: StoredWorld,
  step: StepOf<"redrive" | "skip" | "replay" | "pause" | "resume">,
): void {
  const running = world.runningOf(step.node)?.running;
  if (running === undefined) return;
  const { life, line, lineWorker } = running;
  const { store, log, numbers, database, script } = world;
  log.count(`operator.${step.kind}`);
  const operator = new StoredOperator({
    store,
    database: database.index,
    log,
    numbers,
    ask: (call, doing) => line.ask(call, doing),
  });
  const replayed = script.consumers.map(({ name }) => name);
  const deed = (): Promise<unknown> => {
    switch (step.kind) {
      case "redrive":
        return operator.redriveAll(step.clicks);
      case "skip":
        return operator.skip(step.clicks);
      case "replay":
        return operator.again(replayed, step.rows, step.clicks);
      case "pause":
        return lineWorker.pauseHandler(handlerId(step.consumer), { forMs: step.forMs, because: "asked" });
      case "resume":
        return lineWorker.resumeHandler(handlerId(step.consumer));
    }
  };
  // An operator whose page shows an error looks again later.
  life.do(() => void deed().catch(() => log.count("operator.error")));
}
