import type { Command } from "commander";
import type { Consumer } from "posthorn/client";
import { count, duration, relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";

/** Adds `posthorn consumers`. */
export function registerConsumers(program: Command, context: CommandContext): void {
  const consumers = defineGroup(program, "consumers", "Look at the handlers that workers have registered.");
  defineCommand(consumers, context, {
    form: "list",
    says: "List handlers: what waits for each, what is dead there, and whether a worker has it.",
    examples: ["posthorn consumers list"],
    run: async ({ client, print, context: { clock } }) => {
      const page = await client().consumers.list();
      print.show(page, () => {
        if (page.items.length === 0) print.line("No worker has registered a handler yet.");
        else print.table(consumerTable(page.items, clock.now()));
      });
    },
  });
  defineCommand(consumers, context, {
    form: "retry <id>",
    says: "Make all that has failed at a handler and waits for its next attempt due now.",
    examples: ["posthorn consumers retry hnd_billing"],
    run: async ({ args: [id = ""], client, print }) => {
      const { retried } = await client().consumers.retry(id);
      print.show({ id, retried }, () => print.line(`Due now: ${count(retried, "delivery", "deliveries")}.`));
    },
  });
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
        oldestMs === null ? "–" : duration(oldestMs),
        dead,
      ],
    ),
  };
}
