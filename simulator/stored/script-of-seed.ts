import type { DeadPolicy } from "../../library/src/lanes/dead.js";
import { Random } from "../world/random.js";
import type { StoreFault } from "../script/script.js";
import type {
  ConsumerKind,
  ConsumerPlan,
  StoredScript,
  StoredStep,
  StreamedEvent,
  Trip,
  TroubleKind,
  WorkerNodePlan,
} from "./script.js";
import { withDeeds } from "./deeds-of-seed.js";
import { createStream } from "./stream.js";
import type { StreamEvent } from "./stream.js";

const KINDS: readonly ConsumerKind[] = ["plain", "plain", "batch", "batch", "newest", "drop_stale", "long"];
const NAMES = ["billing", "crm"] as const;
const POLICIES: readonly (DeadPolicy | undefined)[] = [undefined, undefined, "halt", "skip", "park"];
const TROUBLES: readonly TroubleKind[] = [
  "throws",
  "throws",
  "slow",
  "slow",
  "hangs",
  "pauses",
  "pauses",
  "skips",
  "again",
  "kills",
];
const TRIPS: readonly Trip[] = ["lost_request", "lost_answer", "lost_answer", "doubled", "doubled", "late"];
const STORE_FAULTS: readonly StoreFault[] = ["reject", "lost", "lost", "hang", "late", "slow"];
const CALLS = [
  "claim",
  "apply",
  "apply",
  "commit",
  "commit",
  "settle",
  "settle",
  "ingest",
  "ingest",
  "extend",
  "newest",
  "release",
  "register",
  "any",
];
// Twice the lease that a worker asks for at least, and more.
const MARATHONS_MS = [9000, 15_000] as const;

/** Makes up a run of a stream that is stored first. */
export function storedScriptOf(seed: number): StoredScript {
  const random = new Random(seed);
  const consumers = consumersOf(random);
  const nodes = nodesOf(random);
  const healAt = random.between(1500, 4000);
  const hold = random.chance(0.35)
    ? { maxEvents: random.pick([2, 4, 20]), maxMs: random.pick([200, 1000, 4000]) }
    : undefined;
  const delivers = random.chance(0.15);
  const holdsOnly = hold !== undefined;
  const isCalm = random.chance(0.1);
  const steps: StoredStep[] = [
    ...sends(random, { consumers, healAt, delivers, holdsOnly }),
    ...(isCalm ? [] : faults(random, nodes, healAt)),
    ...interventions(random, { nodes, consumers, healAt }),
  ];
  return withDeeds({
    seed,
    nodes,
    consumers,
    hold,
    leaseMs: random.pick([5600, 6000, 8000]),
    pollMs: random.pick([1000, 2000, 3000]),
    slots: random.pick([1, 2, 4, 16]),
    hints: random.chance(0.7),
    delivers,
    hasGone: false,
    steps: steps.toSorted((a, b) => a.at - b.at),
    healAt,
  });
}

function nodesOf(random: Random): readonly WorkerNodePlan[] {
  return Array.from({ length: random.between(2, 3) }, (_, index) => ({
    skewMs: random.chance(0.3) ? random.between(-100_000, 100_000) : 0,
    rate: random.pick([1, 1, 0.99, 1.01]),
    // One of the new version runs throughout: what only it handles must not wait for ever.
    version: index === 0 || random.chance(0.6) ? 2 : 1,
  }));
}

function consumersOf(random: Random): readonly ConsumerPlan[] {
  return NAMES.map((name) => {
    const kind = random.pick(KINDS);
    return {
      name,
      kind,
      // What drops is judged by its lane's order; a comparison of versions is most needed where there is none.
      order: kind !== "drop_stale" && random.chance(kind === "newest" ? 0.6 : 0.1) ? "none" : "key",
      waitsMs: Array.from({ length: random.between(1, 4) }, () => random.between(20, 300)),
      dead: kind === "drop_stale" ? "halt" : random.pick(POLICIES),
      pauseMs: random.between(200, 2500),
      takesSteps: false,
    };
  });
}

interface Traffic {
  readonly consumers: readonly ConsumerPlan[];
  readonly healAt: number;
  readonly delivers: boolean;
  /** Whether each key's events are counted: two of one number cannot be. */
  readonly holdsOnly: boolean;
}

function sends(random: Random, traffic: Traffic): StoredStep[] {
  const { healAt, holdsOnly } = traffic;
  const size = { keys: random.between(2, 4), versions: random.between(8, 14) };
  const streams = createStream(size, random);
  const steps: StoredStep[] = [];
  let number = 0;
  for (const stream of streams) {
    // Some keys come in a burst, as after an outage of their provider.
    const everyMs = random.chance(0.3) ? 2 : (healAt * 0.9) / stream.length;
    const from = random.between(0, Math.floor(healAt * 0.1));
    for (const event of stream) {
      const at = from + event.place * everyMs;
      steps.push(sendOf(random, { ...traffic, event, number: number++, at }));
      const isTwin = !holdsOnly && random.chance(0.05);
      if (isTwin) steps.push(sendOf(random, { ...traffic, event, number: number++, at: at + 1 }));
    }
  }
  return steps;
}

interface Sending extends Traffic {
  readonly event: StreamEvent;
  readonly number: number;
  readonly at: number;
}

function sendOf(random: Random, { consumers, delivers, event, number, at }: Sending): StoredStep {
  const { key, version } = event;
  const isMarathon = random.chance(0.05) && consumers.some(({ kind }) => kind === "long");
  const streamed: StreamedEvent = {
    number,
    type: random.chance(0.85) ? "order.paid" : random.pick(["order.new", "order.new", "note.seen"]),
    key: random.chance(0.95) ? key : undefined,
    version,
    passesOn: delivers && random.chance(0.3),
    worksMs: isMarathon ? random.between(...MARATHONS_MS) : random.between(1, 100),
    ...(random.chance(0.12) && {
      trouble: { consumer: random.pick(NAMES), kind: random.pick(TROUBLES), times: random.between(1, 3) },
    }),
  };
  const trips = Array.from({ length: random.chance(0.35) ? random.between(1, 3) : 0 }, () =>
    random.pick(TRIPS),
  );
  return { at: Math.floor(at), kind: "send", event: streamed, trips };
}

type Fault = StoredStep extends infer Each ? (Each extends StoredStep ? Omit<Each, "at"> : never) : never;

function faults(random: Random, nodes: readonly WorkerNodePlan[], healAt: number): StoredStep[] {
  return Array.from({ length: random.between(5, 10) }, () => ({
    at: random.between(0, Math.floor(healAt * 0.95)),
    ...faultOf(random, nodes),
  }));
}

function faultOf(random: Random, nodes: readonly WorkerNodePlan[]): Fault {
  const node = random.between(0, nodes.length - 1);
  const chosen = random.next();
  if (chosen < 0.5) return { kind: "store", node, call: random.pick(CALLS), how: random.pick(STORE_FAULTS) };
  if (chosen < 0.68) return { kind: "crash", node, forMs: random.between(10, 1500) };
  if (chosen < 0.74) return { kind: "restart", node, forMs: random.between(10, 500) };
  if (chosen < 0.86) return { kind: "stop", node, forMs: random.between(500, 12_000) };
  if (chosen < 0.9) return { kind: "clock", node, byMs: random.between(-400_000, 400_000) };
  return { kind: "power", unsyncedMs: random.between(0, 60), forMs: random.between(10, 800) };
}

function interventions(
  random: Random,
  { nodes, consumers, healAt }: Pick<StoredScript, "nodes" | "consumers" | "healAt">,
): StoredStep[] {
  const steps: StoredStep[] = [];
  for (let n = random.between(0, 4); n > 0; n--) {
    const at = random.between(500, healAt + 6000);
    const node = random.between(0, nodes.length - 1);
    const clicks = random.between(1, 2);
    const { name: consumer } = random.pick(consumers);
    const kind = random.pick(["redrive", "skip", "skip", "replay", "replay", "pause", "resume"] as const);
    if (kind === "pause") steps.push({ at, kind, node, consumer, forMs: random.between(200, 3000) });
    else if (kind === "resume") steps.push({ at, kind, node, consumer });
    else if (kind === "replay") steps.push({ at, kind, node, clicks, rows: random.between(1, 6) });
    else steps.push({ at, kind, node, clicks });
  }
  return steps;
}
