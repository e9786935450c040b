import type { Order } from "../../library/src/outbox/endpoint.js";
import type { DeadPolicy } from "../../library/src/lanes/dead.js";
import { Random } from "../world/random.js";
import type {
  EndpointPlan,
  EventPlan,
  HandlerPlan,
  NodePlan,
  Script,
  Step,
  StoreFault,
  WireFault,
} from "./script.js";

const HANDLERS: readonly HandlerPlan[] = ["throws_once", "slow", "hangs_once", "throws_always"];
const STORE_FAULTS: readonly StoreFault[] = ["reject", "lost", "lost", "hang", "late", "slow"];
const WIRE_FAULTS: readonly WireFault[] = [
  "held",
  "refused",
  "lost_request",
  "lost_answer",
  "lost_answer",
  "duplicate",
  "duplicate",
  "late",
  "status_500",
  "status_429",
  "status_413",
  "status_410",
];
const CALLS = ["claim", "settle", "settle", "sequence", "release", "append", "accept", "commit", "any"];
const POLICIES: readonly (DeadPolicy | undefined)[] = [undefined, "halt", "skip", "park"];
const ORDERS: readonly Order[] = ["key", "key", "endpoint", "none"];

/** Makes up a run. */
export function scriptOf(seed: number): Script {
  const random = new Random(seed);
  const nodes = nodesOf(random);
  const healAt = random.between(1200, 3000);
  const passesOn = random.chance(0.2);
  const delays = random.chance(0.2);
  const kills = random.chance(0.05);
  return {
    seed,
    nodes,
    endpoints: endpointsOf(random),
    leaseMs: random.pick([1000, 1500, 3000]),
    pollMs: random.pick([1000, 2000, 3000]),
    slots: random.pick([1, 2, 4, 16]),
    batch: random.pick([2, 10, 100]),
    hints: random.chance(0.05) ? "all" : random.pick(["committed", "none"]),
    steps: [
      ...publications(random, { nodes, healAt, passesOn, delays, kills }),
      ...faults(random, nodes, healAt),
      ...interventions(random, nodes, healAt),
    ].toSorted((a, b) => a.at - b.at),
    healAt,
  };
}

function nodesOf(random: Random): readonly NodePlan[] {
  const senders = random.between(1, 3);
  const receivers = random.between(1, 2);
  return Array.from({ length: senders + receivers }, (_, index) => ({
    database: index < senders ? 0 : 1,
    skewMs: random.chance(0.3) ? random.between(-100_000, 100_000) : 0,
    rate: random.pick([1, 1, 0.99, 1.01]),
  }));
}

function endpointsOf(random: Random): readonly EndpointPlan[] {
  return Array.from({ length: random.chance(0.3) ? 2 : 1 }, (_, index) => ({
    name: `ep_${index}`,
    plain: random.chance(index === 0 ? 0.7 : 0.9),
    types: index === 0 && random.chance(0.6) ? ["*"] : ["order.*"],
    order: random.pick(ORDERS),
    dead: random.pick(POLICIES),
    waitsMs: Array.from({ length: random.between(1, 4) }, () => random.between(20, 300)),
    maxInFlight: random.pick([1, 2, 64]),
  }));
}

interface Traffic {
  readonly nodes: readonly NodePlan[];
  readonly healAt: number;
  readonly passesOn: boolean;
  /** Whether some events are not to be delivered at once. */
  readonly delays: boolean;
  /** Whether one of them kills the process that sends it. */
  readonly kills: boolean;
}

function publications(random: Random, { nodes, healAt, passesOn, delays, kills }: Traffic): Step[] {
  const keys = Array.from({ length: random.between(1, 4) }, (_, index) => `k${index}`);
  const steps: Step[] = [];
  const count = random.between(18, 27);
  for (let first = 0, size = 0; first < count; first += size) {
    size = Math.min(random.pick([1, 1, 2, 3, 6]), count - first);
    const events = Array.from({ length: size }, (_, index) => {
      const number = first + index;
      return eventOf(random, number, { keys, passesOn, delays, kills: kills && number === 5 });
    });
    const at = random.between(0, Math.floor(healAt * 0.8));
    const how = random.chance(0.08) ? "rollback" : random.pick(["append", "commit"] as const);
    steps.push({
      at,
      kind: "publish",
      node: nodeOf(random, nodes, 0),
      how,
      twice: random.chance(0.15),
      events,
    });
  }
  return steps;
}

function eventOf(
  random: Random,
  number: number,
  { keys, passesOn, delays, kills }: Omit<Traffic, "nodes" | "healAt"> & { readonly keys: readonly string[] },
): EventPlan {
  return {
    number,
    type: random.pick(["order.paid", "invoice.sent"]),
    key: random.chance(0.85) ? random.pick(keys) : undefined,
    idGiven: random.chance(0.5),
    handler: kills ? "kills" : handlerOf(random, passesOn),
    ...(delays && random.chance(0.1) && { deliverAfterMs: random.between(100, 1500) }),
    ...(random.chance(0.05) && { expiresAfterMs: random.between(1600, 4000) }),
  };
}

function handlerOf(random: Random, passesOn: boolean): HandlerPlan {
  if (random.chance(0.12)) return random.pick(HANDLERS);
  return passesOn && random.chance(0.2) ? "passes_on" : "works";
}

function faults(random: Random, nodes: readonly NodePlan[], healAt: number): Step[] {
  const count = random.between(6, 12);
  return Array.from({ length: count }, () => ({
    at: random.between(0, Math.floor(healAt * 0.95)),
    ...faultOf(random, nodes),
  }));
}

type Fault = Step extends infer Each ? (Each extends Step ? Omit<Each, "at"> : never) : never;

function faultOf(random: Random, nodes: readonly NodePlan[]): Fault {
  const node = random.between(0, nodes.length - 1);
  const chosen = random.next();
  if (chosen < 0.38) return { kind: "store", node, call: random.pick(CALLS), how: random.pick(STORE_FAULTS) };
  if (chosen < 0.66) return { kind: "wire", node: nodeOf(random, nodes, 0), how: random.pick(WIRE_FAULTS) };
  if (chosen < 0.78) return { kind: "crash", node, forMs: random.between(10, 1500) };
  if (chosen < 0.82) return { kind: "restart", node, forMs: random.between(10, 500) };
  if (chosen < 0.88) return { kind: "stop", node, forMs: random.between(500, 5000) };
  if (chosen < 0.91) return { kind: "clock", node, byMs: random.between(-400_000, 400_000) };
  if (chosen < 0.94) return { kind: "cut", node, forMs: random.between(50, 1500) };
  const [unsyncedMs, forMs] = [random.between(0, 60), random.between(10, 800)];
  return { kind: "power", database: random.between(0, 1), unsyncedMs, forMs };
}

function interventions(random: Random, nodes: readonly NodePlan[], healAt: number): Step[] {
  const steps: Step[] = [];
  for (let n = random.between(0, 4); n > 0; n--) {
    const at = random.between(300, Math.floor(healAt * 0.95));
    const node = nodeOf(random, nodes, 0);
    const clicks = random.between(1, 2);
    const kind = random.pick(["redrive", "redrive", "skip", "skip", "pause"] as const);
    if (kind === "pause") steps.push({ at, kind, node, forMs: random.between(50, 1000), endpoint: 0 });
    else if (kind === "skip") steps.push({ at, kind, node, clicks });
    else steps.push({ at, kind, node, clicks, all: random.chance(0.3) });
  }
  // An operator who clears up when everything works again.
  if (random.chance(0.4)) steps.push({ at: healAt + 2000, kind: "redrive", node: 0, clicks: 2, all: true });
  return steps;
}

function nodeOf(random: Random, nodes: readonly NodePlan[], database: number): number {
  const those = nodes.flatMap((node, index) => (node.database === database ? [index] : []));
  return random.pick(those);
}
