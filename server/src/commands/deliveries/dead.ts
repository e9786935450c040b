import type { Command } from "commander";
import type { DeadLetter } from "posthorn/client";
import { relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { checkDeadFilter, DEAD_FLAGS, matchesDead } from "./dead-filter.js";
import type { DeadFilter } from "./dead-filter.js";
import { defineCommand, defineGroup } from "../define-command.js";
import { lastAnswer } from "./delivery-table.js";
import { collect, follow, FOLLOW_FLAG, followed, hintMore, LIST_FLAGS, teller } from "../listing.js";
import type { FollowOptions, ListOptions } from "../listing.js";

export function registerDead(program: Command, context: CommandContext): void {
  const dead = defineGroup(program, "dead", "Look at deliveries that were given up.");
  defineCommand<DeadFilter & ListOptions & FollowOptions>(dead, context, {
    form: "list",
    says: "List deliveries that were given up, newest first.",
    examples: ["posthorn dead list", "posthorn dead list --endpoint ep_shop --because refused"],
    flags: [...DEAD_FLAGS, ...LIST_FLAGS, FOLLOW_FLAG],
    run: async ({ options, client, print, context: around }) => {
      const { clock } = around;
      checkDeadFilter(options);
      const calls = client().dead;
      const wanted = (letter: DeadLetter): boolean => matchesDead(letter, options);
      const list: typeof calls.list = (asked) => calls.list(asked);
      if (options.follow === true) {
        const tell = teller<DeadLetter>(print, (letters) => deadTable(letters, clock.now()));
        await follow({ list, idOf: deathOf, wanted, tell, ...followed(options, around) });
        return;
      }
      const page = await collect(list, options, wanted);
      const { items } = page;
      print.show(page, () => {
        if (items.length === 0) print.line({ text: "Nothing was given up.", tone: "good" });
        else print.table(deadTable(items, clock.now()));
      });
      if (items.length > 0) print.hint({ text: "Send one again: posthorn redrive ID", tone: "faint" });
      hintMore(print, page, "posthorn dead list");
    },
  });
}

/** A delivery that was redriven may die again, and is listed again. */
function deathOf({ id, round }: DeadLetter): string {
  return `${id} ${round}`;
}

function deadTable(letters: readonly DeadLetter[], nowMs: number): Table {
  // Only where it tells something: most installations have one.
  const byTenant = letters.some(({ tenant }) => tenant !== "default");
  return {
    columns: [
      { title: "DELIVERY" },
      ...(byTenant ? [{ title: "TENANT", least: 6 }] : []),
      { title: "ENDPOINT", least: 10 },
      { title: "TYPE", least: 10 },
      { title: "KEY", least: 6 },
      { title: "BECAUSE", least: 8 },
      { title: "LAST ANSWER", least: 6 },
      { title: "BLOCKS" },
      { title: "WHEN", least: 8 },
    ],
    rows: letters.map((letter) => [
      { text: letter.id, tone: "name" },
      ...(byTenant ? [letter.tenant] : []),
      letter.endpointId,
      letter.type,
      letter.key ?? "–",
      { text: letter.because, tone: "bad" },
      lastAnswer(letter),
      letter.blocks ? { text: "yes", tone: "warn" } : "no",
      { text: relative(letter.diedAt, nowMs), tone: "faint" },
    ]),
  };
}
