import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import type { Consumer } from "posthorn/client";
import { handlerId } from "posthorn/gateway";
import { LONGEST_PAUSE_MS } from "posthorn/operator";
import { duration } from "../../config/kinds.js";
import { CommandFailure } from "../../terminal/failure.js";
import { count, duration as durationWords, relative } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { confirm } from "../../terminal/confirm.js";
import { defineCommand, defineGroup, YES_FLAG } from "../define-command.js";
import type { YesOption } from "../define-command.js";
import { NOTE_FLAG } from "../operations/operations.js";

/** Adds `posthorn consumers`. */
export function registerConsumers(program: Command, context: CommandContext): void {
  const consumers = defineGroup(
    program,
    "consumers",
    "Look at the handlers that workers have registered; pause and remove them.",
  );
  defineCommand(consumers, context, {
    form: "list",
    says: "List handlers: what waits for each, what is dead there, and whether a worker has it.",
    examples: ["posthorn consumers list"],
    run: async ({ client, print, context: { clock } }) => {
      const page = await client().consumers.list();
      print.show(page, () => {
        if (page.items.length === 0) print.line("No worker has registered a handler yet.");
        else print.table(consumerTable(page.items, clock.now()));
        drawStopped(print, page.items, clock.now());
      });
    },
  });
  defineCommand(consumers, context, {
    form: "retry <id>",
    says: "Make all that has failed at a handler and waits for its next attempt due now.",
    examples: ["posthorn consumers retry hnd_billing"],
    run: async ({ args: [name = ""], client, print }) => {
      const id = handlerId(name);
      const { retried } = await client().consumers.retry(id);
      print.show({ id, retried }, () => print.line(`Due now: ${count(retried, "delivery", "deliveries")}.`));
    },
  });
  registerPause(consumers, context);
  registerRemove(consumers, context);
}

interface PauseOptions {
  readonly for?: number;
  readonly because?: string;
}

function registerPause(consumers: Command, context: CommandContext): void {
  defineCommand<PauseOptions>(consumers, context, {
    form: "pause <id>",
    says: "Let what comes for a handler wait, in order, for a time or until it is resumed.",
    examples: ['posthorn consumers pause billing --for 1h --because "the bank is down"'],
    flags: [
      {
        form: "--for <duration>",
        says: "After so long it ends by itself, as 90s, 15m or 1h.",
        parse: pauseMs,
      },
      { form: "--because <text>", says: "Why, for whoever finds it paused." },
    ],
    run: async ({ args: [name = ""], options, client, print, context: { clock } }) => {
      const paused = await client().consumers.pause(handlerId(name), {
        forMs: options.for,
        note: options.because,
      });
      print.show(paused, () => {
        const end =
          paused.pausedUntil === null
            ? `until somebody resumes it: posthorn consumers resume ${paused.id}`
            : `and goes on ${relative(paused.pausedUntil, clock.now())}`;
        print.line({ text: paused.id, tone: "name" }, ` is paused ${end}.`);
      });
    },
  });
  defineCommand<{ readonly note?: string }>(consumers, context, {
    form: "resume <id>",
    says: "End the pause of a handler, whether a person or a rule for errors has paused it.",
    examples: ["posthorn consumers resume billing"],
    flags: [NOTE_FLAG],
    run: async ({ args: [name = ""], options: { note }, client, print }) => {
      const resumed = await client().consumers.resume(handlerId(name), { note });
      print.show(resumed, () =>
        print.line({ text: resumed.id, tone: "name" }, " gets what waited, in order."),
      );
    },
  });
}

interface RemoveOptions extends YesOption {
  readonly because?: string;
  readonly cancelWaiting?: boolean;
}

function registerRemove(consumers: Command, context: CommandContext): void {
  defineCommand<RemoveOptions>(consumers, context, {
    form: "remove <id>",
    says: "Remove a handler that was renamed or deleted in your code. Stop its workers, or deploy, first.",
    examples: ['posthorn consumers remove billing --because "it is called invoicing now"'],
    flags: [
      { form: "--because <text>", says: "Why, for whoever looks for it later." },
      { form: "--cancel-waiting", says: "Cancel what waits for it, and resolve its dead letters." },
      YES_FLAG,
    ],
    run: async ({ args: [name = ""], options, client, print, context: { terminal } }) => {
      const id = handlerId(name);
      const { items } = await client().consumers.list();
      const found = items.find((each) => each.id === id);
      const { cancelWaiting = false } = options;
      if (found !== undefined && !cancelWaiting) refuseUnlessEmpty(found);
      await confirm(terminal, `Remove the handler ${id}? ${cancelWords(found)}`, {
        yes: options.yes === true,
      });
      const removed = await client().consumers.remove(id, { note: options.because, cancelWaiting });
      print.show(removed, () =>
        print.line(`Removed the handler ${id}. Cancelled: ${waitingWords(removed)}.`),
      );
    },
  });
}

/** Before anything is asked: `--yes` of a script written for a handler that is empty would cancel what waits for another. */
function refuseUnlessEmpty({ id, waiting, exact, dead }: Consumer): void {
  if (waiting === 0 && dead === 0) return;
  const left = `Waiting for ${id}: ${waitingWords({ waiting, exact })}. Dead letters that nobody has resolved: ${dead}.`;
  throw new CommandFailure("failed", `${left} Nobody would ever handle them.`, {
    cure: "Run a worker with its handlers until nothing waits, and redrive its dead letters; or say --cancel-waiting.",
    code: "consumer_not_empty",
  });
}

/** What is lost with a handler. */
function cancelWords(found: Pick<Consumer, "waiting" | "exact"> | undefined): string {
  if (found === undefined || found.waiting === 0) return "Nothing waits for it.";
  return `What waits for it is cancelled and never handled there: ${waitingWords(found)}.`;
}

function waitingWords({ waiting, exact }: Pick<Consumer, "waiting" | "exact">): string {
  return exact ? count(waiting, "delivery", "deliveries") : `more than ${waiting} deliveries`;
}

const PAUSE = duration(1000, LONGEST_PAUSE_MS);

function pauseMs(raw: string): number {
  const ms = PAUSE.read(raw);
  if (ms === undefined) throw new InvalidArgumentError(`Expected ${PAUSE.expected}.`);
  return ms;
}

/** Why a consumer does not work, and until when. */
function stateWords({ state, because, pausedUntil, pausedBy }: Consumer, nowMs: number): string {
  if (state === "active") return "";
  const who = pausedBy === null ? "" : ` by ${pausedBy}`;
  const end = pausedUntil === null ? "until it is resumed" : `ends ${relative(pausedUntil, nowMs)}`;
  return `${state}${who}, ${end}${because === null ? "" : `: ${because}`}`;
}

/** Says of each consumer that is stopped who or what has stopped it, why, and until when. */
export function drawStopped(print: Printer, consumers: readonly Consumer[], nowMs: number): void {
  for (const consumer of consumers) {
    const words = stateWords(consumer, nowMs);
    if (words !== "") print.line({ text: `  ${consumer.id} is ${words}`, tone: "warn" });
  }
}

/** How each consumer stands. */
export function consumerTable(consumers: readonly Consumer[], nowMs: number): Table {
  return {
    columns: [
      { title: "CONSUMER", least: 10 },
      { title: "STATE" },
      { title: "WORKER", least: 8 },
      { title: "SOURCES", least: 8 },
      { title: "WAITING", align: "right" },
      { title: "OLDEST", align: "right" },
      { title: "DEAD", align: "right" },
    ],
    rows: consumers.map(
      ({ id, state, hasWorker, seenAt, sources, waiting, exact, oldestMs, dead, haltedLanes }) => [
        { text: id, tone: "name" },
        haltedLanes > 0
          ? { text: "halted", tone: "bad" }
          : { text: state, tone: state === "active" ? "good" : "faint" },
        hasWorker
          ? { text: relative(seenAt, nowMs), tone: "faint" }
          : { text: "none", tone: waiting > 0 ? "bad" : "warn" },
        sources.join(", "),
        exact ? waiting : `${waiting}+`,
        oldestMs === null ? "–" : durationWords(oldestMs),
        dead,
      ],
    ),
  };
}
