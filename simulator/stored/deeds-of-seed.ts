import { streamOf } from "../world/random.js";
import type { Random } from "../world/random.js";
import { conflictNumber } from "./names.js";
import type { ConsumerPlan, StoredScript, StoredStep, StreamedEvent, TroubleKind } from "./script.js";

type Send = Extract<StoredStep, { kind: "send" }>;

const RULED: readonly TroubleKind[] = ["hopeless", "hopeless", "collides", "collides", "skips", "again"];
// How long after its event a conflict comes: some are of events that still wait.
const CONFLICT_AFTER_MS = [200, 3000] as const;

/**
 * Adds to some scripts what a person does about single events, and errors that have rules. By a stream of chance of its own:
 * a script keeps all that it had without them.
 */
export function withDeeds(script: StoredScript): StoredScript {
  const random = streamOf(script.seed, 77_777);
  const consumers = script.consumers.map((plan) => withSteps(random, plan));
  const troubled = withTroubles(random, { ...script, consumers });
  const hasGone = random.chance(0.15);
  const steps = [
    ...troubled.steps,
    ...(random.chance(0.2) ? conflicts(random, troubled) : []),
    ...(random.chance(0.25) ? forgets(random, troubled) : []),
    ...(script.hold !== undefined && random.chance(0.7) ? releases(random, troubled) : []),
    ...(random.chance(0.15) ? reconciliations(random, troubled) : []),
    ...(hasGone ? [{ ...later(random, troubled), kind: "remove" as const }] : []),
  ];
  return { ...troubled, hasGone, steps: steps.toSorted((a, b) => a.at - b.at) };
}

function withSteps(random: Random, plan: ConsumerPlan): ConsumerPlan {
  const takesSteps = random.chance(0.6) && plan.kind === "long";
  return { ...plan, takesSteps };
}

/** Some events that have met no trouble meet errors for which their consumer has a rule. */
function withTroubles(random: Random, script: StoredScript): StoredScript {
  const { consumers } = script;
  const dying = consumers.find(({ takesSteps }) => takesSteps);
  const isRuled = random.chance(0.25);
  const troubled = (event: StreamedEvent): StreamedEvent => {
    if (event.trouble !== undefined) return event;
    const times = random.between(1, 4);
    if (dying !== undefined && random.chance(0.1))
      return { ...event, trouble: { consumer: dying.name, kind: "kills_in_step", times: 1 } };
    if (!isRuled || !random.chance(0.15)) return event;
    return { ...event, trouble: { consumer: random.pick(consumers).name, kind: random.pick(RULED), times } };
  };
  const steps = script.steps.map((step) =>
    step.kind === "send" ? { ...step, event: troubled(step.event) } : step,
  );
  return { ...script, steps };
}

function later(
  random: Random,
  { nodes, healAt }: StoredScript,
): { readonly at: number; readonly node: number } {
  return { at: random.between(800, healAt + 4000), node: random.between(0, nodes.length - 1) };
}

function conflicts(random: Random, script: StoredScript): readonly StoredStep[] {
  const sent = script.steps.filter((step): step is Send => step.kind === "send");
  const chosen = new Set(Array.from({ length: random.between(1, 3) }, () => random.pick(sent)));
  const steps = [...chosen].map(({ at, event }): StoredStep => {
    const { trouble: _, ...plain } = event;
    const another = { ...plain, number: conflictNumber(event.number), passesOn: false };
    return {
      at: at + random.between(...CONFLICT_AFTER_MS),
      kind: "conflict",
      event: another,
      of: event.number,
    };
  });
  const redrives = Array.from({ length: random.between(1, 2) }, (): StoredStep => ({
    ...later(random, script),
    kind: "redrive_refused",
    clicks: random.between(1, 2),
  }));
  return [...steps, ...redrives];
}

function forgets(random: Random, script: StoredScript): readonly StoredStep[] {
  return Array.from({ length: random.between(1, 3) }, () => ({
    ...later(random, script),
    kind: "forget" as const,
    nth: random.between(0, 20),
  }));
}

function releases(random: Random, script: StoredScript): readonly StoredStep[] {
  return Array.from({ length: random.between(2, 4) }, () => ({
    ...later(random, script),
    at: random.between(200, script.healAt + 500),
    kind: "release" as const,
    clicks: random.between(1, 2),
  }));
}

function reconciliations(random: Random, script: StoredScript): readonly StoredStep[] {
  return [
    {
      ...later(random, script),
      kind: "reconcile",
      consumer: random.pick(script.consumers).name,
      vanish: random.between(0, 3),
      byHand: random.between(0, 3),
    },
  ];
}
