import type { AttemptRecord } from "../../lanes/attempt-record.js";
import type { Claim } from "../../lanes/lane-store.js";

/**
 * The attempts that an apply leaves behind, one for each delivery that was redriven. A first round that succeeds leaves
 * none: its row of the inbox tells of it. After a redrive the dead letter of the round before would else be the last word
 * on the delivery, and it would look dead for ever.
 */
export function redrivenAttempts(
  { run, attempts }: Pick<Claim, "run" | "attempts">,
  count: number,
  { startedAtMs, durationMs }: { readonly startedAtMs: number; readonly durationMs: number },
): readonly AttemptRecord[] {
  return run.slice(0, count).flatMap(({ sequence, round }, index) =>
    round === 1
      ? []
      : [
          {
            sequence,
            round,
            number: index === 0 ? attempts + 1 : 1,
            startedAt: new Date(startedAtMs),
            durationMs: Math.max(0, Math.round(durationMs)),
            outcome: "acknowledged",
            status: undefined,
            error: undefined,
            answer: undefined,
          },
        ],
  );
}
