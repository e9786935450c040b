import type { Operator } from "../../library/src/operator/verbs.js";
import { publishAll } from "./publishing.js";
import type { Step } from "../script/script.js";
import type { World } from "./world.js";

type StepOf<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

/** Does one step of the script to the world, or lets its users do it. */
export function performStep(world: World, step: Step): void {
  switch (step.kind) {
    case "publish":
      return publish(world, step);
    case "store":
      return world.nodes[step.node]?.armStore(step.call, step.how);
    case "wire":
      return world.nodes[step.node]?.armWire(step.how);
    case "power":
      return world.databases[step.database]?.losePower(step.unsyncedMs, step.forMs);
    case "crash":
    case "restart":
    case "stop":
    case "clock":
    case "cut":
      return harm(world, step);
    case "redrive":
    case "skip":
    case "pause":
      return intervene(world, step);
  }
}

function publish(world: World, { node, events, how, twice }: StepOf<"publish">): void {
  const { log, publishing } = world;
  const nowMs = (): number => world.nowMs;
  const publisher = world.runningOf(node);
  const running = publisher?.running;
  if (publisher === undefined || running === undefined) return;
  const begin = async (): Promise<void> => {
    const call = world.nextCall();
    log.add({ kind: "publish", call, node: publisher.index, how, events });
    log.count("events", how === "rollback" ? 0 : events.length);
    publishing.add(call);
    const { sender, line, life } = running;
    life.whenEnded(() => publishing.delete(call));
    const result = await publishAll({ sender, line, life, nowMs }, events, { how, twice });
    publishing.delete(call);
    log.count(`publish.${result}`);
    log.add({ kind: "published", call, result });
  };
  // A process that is stopped begins when it goes on; one that dies before that never does.
  running.life.do(() => void begin());
}

function harm(world: World, step: StepOf<"crash" | "restart" | "stop" | "clock" | "cut">): void {
  const { cut, log, scheduler } = world;
  const node = world.nodes[step.node];
  const running = node?.running;
  if (node === undefined || running === undefined) return;
  log.fault(step.kind);
  switch (step.kind) {
    case "crash":
      node.crash();
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
      return node.turnClock(step.byMs);
    case "cut":
      cut.set(step.node, (cut.get(step.node) ?? 0) + 1);
      scheduler.after(step.forMs, () => {
        const left = (cut.get(step.node) ?? 1) - 1;
        if (left > 0) cut.set(step.node, left);
        else cut.delete(step.node);
      });
  }
}

function intervene(world: World, step: StepOf<"redrive" | "skip" | "pause">): void {
  const running = world.runningOf(step.node)?.running;
  if (running === undefined) return;
  const { life, operator, sender } = running;
  world.log.count(`operator.${step.kind}`);
  life.do(() => {
    const doing =
      step.kind === "redrive"
        ? redrive(operator, step)
        : step.kind === "skip"
          ? skip(operator, step)
          : pause();
    // An operator whose page shows an error looks again later.
    doing.catch(() => world.log.count("operator.error"));
  });
  async function pause(): Promise<void> {
    if (step.kind !== "pause") return;
    const name = world.script.endpoints[step.endpoint]?.name ?? "";
    await sender.endpoints.pause(name);
    await life.sleep(step.forMs);
    await sender.endpoints.resume(name);
  }
}

async function redrive(operator: Operator, { all, clicks }: StepOf<"redrive">): Promise<void> {
  const { items } = await operator.deadLetters();
  for (const { id } of all ? items : items.slice(0, 1)) {
    await Promise.all(Array.from({ length: clicks }, () => operator.redrive(id)));
  }
}

async function skip(operator: Operator, { clicks }: StepOf<"skip">): Promise<void> {
  const [lane] = (await operator.blockedLanes()).items;
  if (lane === undefined) return;
  await Promise.all(Array.from({ length: clicks }, () => operator.skip(lane.id, lane.head)));
}
