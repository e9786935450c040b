import type { Client, Operation } from "posthorn/client";
import { CommandFailure } from "../../terminal/failure.js";
import type { Run } from "../define-command.js";
import { resultWords } from "./plan-words.js";

const LOOK_MS = 500;
const LABELS = { redrive: "Redriving", skip: "Skipping", cancel: "Cancelling", replay: "Replaying" } as const;

/** Follows an operation until it has ended. The server does the work: Ctrl-C asks it to stop, and a lost connection does not. */
export async function followOperation(
  { print, context: { clock, interrupted } }: Pick<Run<unknown>, "print" | "context">,
  { operations }: Client,
  begun: Operation,
): Promise<Operation> {
  const signal = interrupted();
  const progress = print.progress({ label: LABELS[begun.verb], total: begun.plan.count, unit: "deliveries" });
  progress.advance(begun.done);
  let now = begun;
  let stopped = false;
  try {
    while (now.state === "running" || now.state === "stopping") {
      if (signal.aborted && !stopped) {
        stopped = true;
        await operations.stop(now.id);
      }
      await clock.sleep(LOOK_MS, stopped ? undefined : signal);
      const next = await operations.get(now.id);
      progress.advance(next.done - now.done);
      now = next;
    }
  } finally {
    progress.end();
  }
  return now;
}

/** Prints what came of it; ends with 130 where it was stopped, and with 1 where it failed. */
export function tellOperation({ print }: Pick<Run<unknown>, "print">, ended: Operation): void {
  print.show(ended, () => print.line(resultWords(ended)));
  if (ended.state === "stopped") {
    throw new CommandFailure("interrupted", `Stopped after ${ended.done} of ${ended.plan.count}.`, {
      cure: `What was done: posthorn operations show ${ended.id}`,
    });
  }
  if (ended.state === "failed") throw new CommandFailure("failed", ended.message ?? "The operation failed.");
}
