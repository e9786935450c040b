import type { Command } from "commander";
import { isPosthornError } from "posthorn/client";
import type { Client, DeadLetter } from "posthorn/client";
import { confirm } from "../../terminal/confirm.js";
import { CommandFailure, toldFailure } from "../../terminal/failure.js";
import { count } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { checkDeadFilter, DEAD_FLAGS, isNarrow, matchesDead } from "./dead-filter.js";
import type { DeadFilter } from "./dead-filter.js";
import { defineCommand, YES_FLAG } from "../define-command.js";
import type { Run, YesOption } from "../define-command.js";
import { collectAll } from "../listing.js";

interface RedriveOptions extends DeadFilter, YesOption {
  readonly all?: boolean;
}

export function registerRedrive(program: Command, context: CommandContext): void {
  defineCommand<RedriveOptions>(program, context, {
    form: "redrive [ids...]",
    says: "Make dead deliveries due again, in order and with a fresh budget of retries.",
    examples: [
      "posthorn redrive dlv_12_7",
      "posthorn redrive --all --endpoint ep_shop",
      "posthorn redrive --all --because refused --yes",
    ],
    flags: [
      { form: "--all", says: "All that were given up, or those that the flags name." },
      ...DEAD_FLAGS,
      YES_FLAG,
    ],
    run: async (run) => {
      const { args, options } = run;
      checkDeadFilter(options);
      const unclear = whatIsUnclear(args, options);
      if (unclear !== undefined) {
        throw new CommandFailure("usage", unclear, { cure: "`posthorn dead list` shows what was given up." });
      }
      await (options.all === true
        ? redriveAll(run)
        : redriveThese(
            run,
            args.map((id) => [id]),
          ));
    },
  });
}

/** Refuses a command that could mean more, or fewer, deliveries than its author thinks, and says what to write. */
function whatIsUnclear(ids: readonly string[], options: RedriveOptions): string | undefined {
  const all = options.all === true;
  if (ids.length > 0 && all) return "Name deliveries, or say --all, not both.";
  if (ids.length > 0 && isNarrow(options))
    return "Deliveries are named, and flags choose among all: leave out one or the other.";
  if (ids.length > 0 || all) return undefined;
  return isNarrow(options)
    ? "Flags choose among all that were given up: add --all."
    : "Name deliveries, or say --all.";
}

async function redriveAll(run: Run<RedriveOptions>): Promise<void> {
  const { client, options, print, context } = run;
  const { dead } = client();
  // Reads the whole list first: it begins with the newest, and shrinks while deliveries are redriven.
  const letters = (await collectAll((page) => dead.list(page))).filter((letter) =>
    matchesDead(letter, options),
  );
  if (letters.length === 0) {
    print.show(reportOf([]), () => print.line("There is nothing to redrive."));
    return;
  }
  const endpoints = new Set(letters.map(({ endpointId }) => endpointId)).size;
  const what = `${count(letters.length, "delivery", "deliveries")} at ${count(endpoints, "endpoint")}`;
  await confirm(context.terminal, `Redrive ${what}?`, { yes: options.yes === true });
  await redriveThese(run, inOrder(letters));
}

/** Oldest first, and those of one lane one after the other: a lane that has gone on takes them in the order of the calls. */
export function inOrder(letters: readonly DeadLetter[]): readonly (readonly string[])[] {
  const lanes = new Map<string, string[]>();
  for (const { id, tenant, endpointId, key } of letters.toReversed()) {
    const lane = key === null ? id : JSON.stringify([tenant, endpointId, key]);
    const ids = lanes.get(lane);
    if (ids === undefined) lanes.set(lane, [id]);
    else ids.push(id);
  }
  return [...lanes.values()];
}

interface Redriven {
  readonly id: string;
  readonly result: "in_place" | "at_end" | "failed" | "interrupted";
  readonly error?: string;
}

const AT_ONCE = 8;

async function redriveThese(run: Run<RedriveOptions>, lanes: readonly (readonly string[])[]): Promise<void> {
  const { print, context } = run;
  const client = run.client();
  const total = lanes.reduce((sum, ids) => sum + ids.length, 0);
  const signal = total > 1 ? context.interrupted() : undefined;
  const progress = total > 1 ? print.progress({ label: "Redriving", total, unit: "deliveries" }) : undefined;
  const results: Redriven[] = [];
  const queue = lanes.values();
  const work = async (): Promise<void> => {
    for (const ids of queue) {
      for (const id of ids) {
        results.push(signal?.aborted === true ? { id, result: "interrupted" } : await redriveOne(client, id));
        progress?.advance();
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    progress?.end();
  }
  tell(run, results);
}

async function redriveOne(client: Client, id: string): Promise<Redriven> {
  try {
    return { id, result: (await client.redrive(id)).result };
  } catch (error) {
    // An unknown delivery does not stop the others; a server that is down does.
    if (isPosthornError(error) && toldFailure(error).exit === "failed") {
      return { id, result: "failed", error: error.message };
    }
    throw error;
  }
}

interface Report {
  readonly redriven: number;
  readonly failed: number;
  readonly interrupted: number;
  readonly items: readonly Redriven[];
}

function reportOf(items: readonly Redriven[]): Report {
  const failed = items.filter(({ result }) => result === "failed").length;
  const interrupted = items.filter(({ result }) => result === "interrupted").length;
  return { redriven: items.length - failed - interrupted, failed, interrupted, items };
}

function tell({ print }: Run<RedriveOptions>, results: readonly Redriven[]): void {
  const report = reportOf(results);
  const { redriven, failed, interrupted } = report;
  print.show(report, () => {
    const [only] = results;
    if (results.length === 1 && only !== undefined && redriven === 1) print.line(placeWords(only));
    else print.line(`Redriven: ${count(redriven, "delivery", "deliveries")}.`);
    for (const { id, error } of results)
      if (error !== undefined) print.line({ text: id, tone: "bad" }, `: ${error}`);
  });
  if (interrupted > 0) {
    throw new CommandFailure(
      "interrupted",
      `Stopped. Still dead: ${count(interrupted, "delivery", "deliveries")}.`,
    );
  }
  if (failed > 0) {
    throw new CommandFailure("failed", `${count(failed, "delivery", "deliveries")} could not be redriven.`, {
      cure: "They may have been redriven before: `posthorn dead list` shows what is still dead.",
    });
  }
}

function placeWords({ id, result }: Redriven): string {
  return result === "in_place"
    ? `${id} is due again at the head of its lane, which had waited for it.`
    : `${id} is due again; its lane had gone on, so it takes its place at the end.`;
}
