import type { Command } from "commander";
import { isPosthornError } from "posthorn/client";
import type { Client, Operation, OperationFilter } from "posthorn/client";
import { confirm } from "../../terminal/confirm.js";
import { CommandFailure, toldFailure } from "../../terminal/failure.js";
import { count } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { checkDeadFilter, DEAD_FLAGS, isNarrow, matchesType, queryOf } from "./dead-filter.js";
import type { DeadFilter } from "./dead-filter.js";
import { defineCommand, YES_FLAG } from "../define-command.js";
import type { Run, YesOption } from "../define-command.js";
import { collectAll } from "../listing.js";
import { NOTE_FLAG, RATE_FLAG } from "../operations/operations.js";
import { drawPlan } from "../operations/plan-words.js";
import { followOperation, tellOperation } from "../operations/run-plan.js";

interface RedriveOptions extends DeadFilter, YesOption {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly note?: string;
}

export function registerRedrive(program: Command, context: CommandContext): void {
  defineCommand<RedriveOptions>(program, context, {
    form: "redrive [ids...]",
    says: "Make dead deliveries due again, in order and with a fresh budget of retries.",
    examples: [
      "posthorn redrive dlv_12_7",
      "posthorn redrive --all --endpoint ep_shop",
      "posthorn redrive --all --endpoint ep_shop --since 24h --dry-run",
      "posthorn redrive --all --because refused --rate 20 --yes",
    ],
    flags: [
      { form: "--all", says: "All that were given up, or those that the flags name." },
      ...DEAD_FLAGS,
      { form: "--dry-run", says: "Only say what would be done, and keep the plan for an hour." },
      RATE_FLAG,
      NOTE_FLAG,
      YES_FLAG,
    ],
    run: async (run) => {
      const { args, options } = run;
      checkDeadFilter(options);
      const unclear = whatIsUnclear(args, options);
      if (unclear !== undefined) {
        throw new CommandFailure("usage", unclear, { cure: "`posthorn dead list` shows what was given up." });
      }
      if (options.all === true) return redriveAll(run);
      if (options.dryRun !== true) return redriveThese(run, args);
      const filter = { deliveries: args };
      showPlan(run, await run.client().operations.create({ verb: "redrive", filter, dryRun: true }));
    },
  });
}

/** Refuses a command that could mean more, or fewer, deliveries than its author thinks, and says what to write. */
function whatIsUnclear(ids: readonly string[], options: RedriveOptions): string | undefined {
  const all = options.all === true;
  const other = ids.find((id) => !id.startsWith("dlv_"));
  if (other !== undefined) {
    return /^\d+$/.test(other)
      ? `"${other}" is a lane, and deliveries are redriven: \`posthorn lanes show ${other}\` names its head.`
      : `"${other}" is no delivery (dlv_…).`;
  }
  if (ids.length > 0 && all) return "Name deliveries, or say --all, not both.";
  if (ids.length > 0 && isNarrow(options))
    return "Deliveries are named, and flags choose among all: leave out one or the other.";
  if (ids.length > 0 || all) return undefined;
  return isNarrow(options)
    ? "Flags choose among all that were given up: add --all."
    : "Name deliveries, or say --all.";
}

/** Plans it on the server, says what it will do, asks, and follows it. */
async function redriveAll(run: Run<RedriveOptions>): Promise<void> {
  const { options, print, context } = run;
  const client = run.client();
  const { rate, note } = options;
  const filter = await filterOf(client, options);
  const planned = await client.operations.create({ verb: "redrive", filter, dryRun: true, rate, note });
  const { plan } = planned;
  if (plan.count === 0) return print.show(planned, () => print.line("There is nothing to redrive."));
  if (options.dryRun === true) return showPlan(run, planned);
  if (!print.json) drawPlan(print, plan, context.clock.now());
  await confirm(context.terminal, `Redrive ${count(plan.count, "delivery", "deliveries")}?`, {
    yes: options.yes === true,
  });
  const begun = await client.operations.run(planned.id, { rate, note });
  tellOperation(run, await followOperation(run, client, begun));
}

function showPlan({ print, context }: Run<RedriveOptions>, planned: Operation): void {
  print.show(planned, () => drawPlan(print, planned.plan, context.clock.now()));
  print.hint({ text: `Nothing was sent. Run it: posthorn operations run ${planned.id}`, tone: "faint" });
}

const MOST_NAMED = 1000;

/** The server has no index of types: those of a type are named one by one. */
async function filterOf({ dead }: Client, options: RedriveOptions): Promise<OperationFilter> {
  const query = queryOf(options);
  if (options.type === undefined) return { dead: query };
  const all = await collectAll((page) => dead.list({ ...query, ...page }));
  const deliveries = all.filter((letter) => matchesType(letter, options)).map(({ id }) => id);
  if (deliveries.length <= MOST_NAMED) return { deliveries };
  throw new CommandFailure(
    "usage",
    `${deliveries.length} are of this type, and at most ${MOST_NAMED} are named at once.`,
    {
      cure: "Narrow it down by --endpoint, --since or --until.",
    },
  );
}

interface Redriven {
  readonly id: string;
  readonly result: "in_place" | "at_end" | "failed" | "interrupted";
  readonly error?: string;
}

/** Those that are named, in the order in which they are: a lane that has gone on takes them in the order of the calls. */
async function redriveThese(run: Run<RedriveOptions>, ids: readonly string[]): Promise<void> {
  const { print, context } = run;
  const client = run.client();
  const signal = ids.length > 1 ? context.interrupted() : undefined;
  const options = { label: "Redriving", total: ids.length, unit: "deliveries" };
  const progress = ids.length > 1 ? print.progress(options) : undefined;
  const results: Redriven[] = [];
  try {
    for (const id of ids) {
      results.push(signal?.aborted === true ? { id, result: "interrupted" } : await redriveOne(client, id));
      progress?.advance();
    }
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
