import type { Command } from "commander";
import type { SetAside } from "posthorn/client";
import { relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";
import { collect, hintMore, LIST_FLAGS } from "../listing.js";
import type { ListOptions } from "../listing.js";

export function registerSetAside(program: Command, context: CommandContext): void {
  const group = defineGroup(
    program,
    "set-aside",
    "Look at events that could not be given their places in lanes.",
  );
  defineCommand<ListOptions>(group, context, {
    form: "list",
    says: "List events that were set aside, newest first, and why.",
    examples: ["posthorn set-aside list"],
    flags: [...LIST_FLAGS],
    run: async ({ options, client, print, context: { clock } }) => {
      const calls = client().setAside;
      const page = await collect((asked) => calls.list(asked), options);
      print.show(page, () => {
        if (page.items.length === 0) print.line({ text: "Nothing was set aside.", tone: "good" });
        else print.table(setAsideTable(page.items, clock.now()));
      });
      if (page.items.length > 0) {
        print.hint({ text: "Try one again: posthorn set-aside redrive ID", tone: "faint" });
      }
      hintMore(print, page, "posthorn set-aside list");
    },
  });
  defineCommand(group, context, {
    form: "redrive <id>",
    says: "Let an event that was set aside have its places after all, at the ends of its lanes.",
    examples: ["posthorn set-aside redrive 12"],
    run: async ({ args: [id = ""], client, print }) => {
      const redriven = await client().setAside.redrive(id);
      print.show({ id, ...redriven }, () => {
        print.line(
          redriven.result === "staged"
            ? "It is given its places now; if that fails again, it is set aside again."
            : "Its event was deleted: nothing can be sent, and it is no longer listed.",
        );
      });
    },
  });
}

function setAsideTable(events: readonly SetAside[], nowMs: number): Table {
  return {
    columns: [
      { title: "ID" },
      { title: "TENANT", least: 8 },
      { title: "EVENT", least: 10 },
      { title: "TYPE", least: 10 },
      { title: "WHEN", least: 8 },
      { title: "ERROR", least: 16 },
    ],
    rows: events.map((event) => [
      { text: event.id, tone: "name" },
      event.tenant,
      event.eventId ?? { text: "deleted", tone: "bad" },
      event.type ?? "–",
      { text: relative(event.setAsideAt, nowMs), tone: "faint" },
      event.error,
    ]),
  };
}
