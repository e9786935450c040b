import { DEAD_REASONS } from "../../library/src/lanes/dead.js";
import type { NextState } from "../../library/src/lanes/lane-store.js";
import type { Outcome } from "../../library/src/delivery/outcome.js";
import type { DeadPolicy } from "../../library/src/lanes/dead.js";
import type { LaneView } from "./lane-view.js";
import type { Report } from "./violation.js";

/** The settings of an endpoint for retries and dead deliveries. */
export interface EndpointLaw {
  readonly dead: DeadPolicy | undefined;
  readonly waitsMs: readonly number[];
}

const JITTER = 0.2;
const LEAST_RETRY_AFTER_MS = 1000;
const GONE = 410;
const TOO_LARGE = new Set([413, 414, 431]);

interface Case {
  readonly view: LaneView;
  readonly rest: NextState;
  readonly law: EndpointLaw;
  /** The last outcome that the worker got for this event; undefined where it sent nothing. */
  readonly last: Outcome | undefined;
  readonly report: Report;
}

/** Judges what a worker decided for a delivery that was not acknowledged, by the outcome on the wire (I10, I14). */
export function judgeRest({ view, rest, law, last, report }: Case): void {
  const what = `${view.head} of ${view.name}`;
  const status = last !== undefined && "status" in last ? last.status : undefined;
  if (last?.kind === "acknowledged") report("I10", `${what} was acknowledged, and is ${rest.state}`);
  switch (rest.state) {
    case "due":
      return judgeWait({ what, rest, failures: view.failures, law, last, report });
    case "dead":
      if (!Object.hasOwn(DEAD_REASONS, rest.because))
        report("I14", `${what} is dead for ${rest.because}, which nobody knows`);
      if (rest.because === "exhausted" && view.failures < law.waitsMs.length) {
        report(
          "I14",
          `${what} is given up after ${view.failures + 1} failures; ${law.waitsMs.length + 1} are allowed`,
        );
      }
      if (rest.because === "refused" && !TOO_LARGE.has(status ?? 0))
        report("I14", `${what} is given up for the answer ${status}`);
      return;
    case "disabled":
      if (status !== GONE) report("I11", `the endpoint of ${what} was disabled for the answer ${status}`);
      return;
    case "paused":
      return report("I11", `the endpoint of ${what} was paused, which only a rule of a handler may do`);
    case "cancelled":
      if (last !== undefined) report("I11", `${what} was sent, and cancelled as ${rest.because}`);
  }
}

function judgeWait({
  what,
  rest,
  failures,
  law,
  last,
  report,
}: Omit<Case, "view" | "rest"> & {
  readonly what: string;
  readonly rest: Extract<NextState, { state: "due" }>;
  readonly failures: number;
}): void {
  const plainMs = law.waitsMs[failures];
  if (plainMs === undefined) return report("I10", `${what} is tried again after ${failures + 1} failures`);
  const askedMs = last?.kind === "refused" ? last.retryAfterMs : undefined;
  const [least, most] =
    askedMs === undefined
      ? [plainMs * (1 - JITTER) - 1, plainMs * (1 + JITTER) + 1]
      : [Math.max(askedMs, LEAST_RETRY_AFTER_MS), Math.max(askedMs, LEAST_RETRY_AFTER_MS)];
  if (rest.afterMs < least || rest.afterMs > most) {
    report("I10", `${what} waits ${rest.afterMs} ms; expected ${least} to ${most}`);
  }
}
