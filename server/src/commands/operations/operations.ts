import type { Command } from "commander";
import type { Operation } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup, wholeNumber } from "../define-command.js";
import { collect, hintMore, LIST_FLAGS } from "../listing.js";
import type { ListOptions } from "../listing.js";
import { drawPlan, resultWords } from "./plan-words.js";
import { followOperation, tellOperation } from "./run-plan.js";

interface RunOptions {
  readonly rate?: number;
  readonly note?: string;
}

export const RATE_FLAG = {
  form: "--rate <n>",
  says: "Deliveries in a second; 100 unless said otherwise.",
  parse: wholeNumber(1, 10_000),
} as const;
export const NOTE_FLAG = { form: "--note <text>", says: "Why, for whoever reads it later." } as const;

export function registerOperations(program: Command, context: CommandContext): void {
  const operations = defineGroup(
    program,
    "operations",
    "Look at what is done to many deliveries at once; run, slow down and stop it.",
  );
  defineCommand<ListOptions>(operations, context, {
    form: "list",
    says: "List operations, newest first.",
    examples: ["posthorn operations list"],
    flags: LIST_FLAGS,
    run: async ({ options, client, print, context: { clock } }) => {
      const calls = client().operations;
      const page = await collect((asked) => calls.list(asked), options);
      print.show(page, () => {
        if (page.items.length === 0)
          print.line("There are no operations yet. A plan of --dry-run is listed when it runs.");
        else print.table(operationTable(page.items, clock.now()));
      });
      hintMore(print, page, "posthorn operations list");
    },
  });
  registerOne(operations, context);
}

function registerOne(operations: Command, context: CommandContext): void {
  defineCommand<object>(operations, context, {
    form: "show <id>",
    says: "Show an operation: its plan, who runs it and how far it is.",
    examples: ["posthorn operations show op_01kb2"],
    run: async ({ args: [id = ""], client, print, context: { clock } }) => {
      const operation = await client().operations.get(id);
      print.show(operation, () => {
        drawPlan(print, operation.plan, clock.now());
        print.line();
        print.facts([
          ["operation", { text: operation.id, tone: "name" }],
          ["state", { text: operation.state, tone: toneOf(operation.state) }],
          ["done", `${operation.done} of ${operation.plan.count}, at most ${operation.rate} a second`],
          ["by", operation.by.name],
          ["planned", relative(operation.plannedAt, clock.now())],
          ...(operation.note === null ? [] : [["note", operation.note] as const]),
        ]);
        if (operation.state !== "planned") print.line(resultWords(operation));
      });
    },
  });
  defineCommand<RunOptions>(operations, context, {
    form: "run <id>",
    says: "Run a plan that --dry-run has made; refused where it does not hold any more.",
    examples: ["posthorn operations run op_01kb2 --rate 20"],
    flags: [RATE_FLAG, NOTE_FLAG],
    run: async (run) => {
      const client = run.client();
      const { rate, note } = run.options;
      const begun = await client.operations.run(run.args[0] ?? "", { rate, note });
      tellOperation(run, await followOperation(run, client, begun));
    },
  });
  defineCommand<object>(operations, context, {
    form: "stop <id>",
    says: "Stop an operation: at most the step that is under way is finished.",
    examples: ["posthorn operations stop op_01kb2"],
    run: async ({ args: [id = ""], client, print }) => {
      const stopped = await client().operations.stop(id);
      print.show(stopped, () => print.line(`Stopping after ${stopped.done} of ${stopped.plan.count}.`));
    },
  });
  defineCommand<{ readonly rate: number }>(operations, context, {
    form: "rate <id>",
    says: "Make an operation slower or faster.",
    examples: ["posthorn operations rate op_01kb2 --rate 5"],
    flags: [{ ...RATE_FLAG, says: "Deliveries in a second.", required: true }],
    run: async ({ args: [id = ""], options: { rate }, client, print }) => {
      const changed = await client().operations.rate(id, rate);
      print.show(changed, () => print.line(`At most ${changed.rate} a second from now on.`));
    },
  });
}

function toneOf(state: Operation["state"]): Tone {
  if (state === "finished") return "good";
  return state === "failed" ? "bad" : state === "stopped" || state === "stopping" ? "warn" : "plain";
}

function operationTable(operations: readonly Operation[], nowMs: number): Table {
  return {
    columns: [
      { title: "OPERATION" },
      { title: "STATE" },
      { title: "DONE", align: "right" },
      { title: "WHAT", least: 20 },
      { title: "BY", least: 6 },
      { title: "WHEN", least: 8 },
    ],
    rows: operations.map(({ id, state, done, plan, by, startedAt, plannedAt }) => [
      { text: id, tone: "name" },
      { text: state, tone: toneOf(state) },
      `${done}/${plan.count}`,
      plan.words,
      by.name,
      { text: relative(startedAt ?? plannedAt, nowMs), tone: "faint" },
    ]),
  };
}
