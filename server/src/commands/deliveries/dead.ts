import type { Command } from "commander";
import type { DeadGroup, DeadLetter } from "posthorn/client";
import { CommandFailure } from "../../terminal/failure.js";
import { relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { checkDeadFilter, DEAD_FLAGS, matchesType, queryOf } from "./dead-filter.js";
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
      const wanted = (letter: DeadLetter): boolean => matchesType(letter, options);
      const list: typeof calls.list = (asked) => calls.list({ ...queryOf(options), ...asked });
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
  registerGroups(dead, context);
}

interface GroupOptions {
  readonly endpoint?: string;
  readonly because?: string;
}

function registerGroups(dead: Command, context: CommandContext): void {
  defineCommand<GroupOptions>(dead, context, {
    form: "groups",
    says: "Count what was given up: by endpoint, reason, and the answer or error; largest group first.",
    examples: ["posthorn dead groups", "posthorn dead groups --endpoint ep_shop"],
    flags: [
      { form: "--endpoint <id>", says: "At this endpoint." },
      { form: "--because <reason>", says: "Given up for this reason." },
    ],
    run: async ({ options: { endpoint, because }, client, print, context: { clock } }) => {
      const page = await client().dead.groups({ endpoint, because });
      print.show(page, () => {
        if (page.items.length === 0) print.line({ text: "Nothing was given up.", tone: "good" });
        else print.table(groupTable(page.items, clock.now()));
      });
      const [largest] = page.items;
      if (largest !== undefined)
        print.hint({
          text: `Write down what is known: posthorn dead note ${largest.id} TEXT`,
          tone: "faint",
        });
    },
  });
  defineCommand<{ readonly remove?: boolean }>(dead, context, {
    form: "note <group> [text...]",
    says: "Write down what is known about a group; `posthorn dead groups --json` has their ids.",
    examples: ["posthorn dead note ep_shop.exhausted.503.none their database moved, back at 10"],
    flags: [{ form: "--remove", says: "Take the note away." }],
    run: async ({ args: [group = "", ...words], options, client, print }) => {
      const text = words.join(" ");
      if ((text === "") !== (options.remove === true)) {
        throw new CommandFailure("usage", "Say what is known, or --remove to take the note away.");
      }
      const noted = await client().dead.note(group, text === "" ? null : text);
      print.show(noted, () => print.line(noted.note === null ? "The note is gone." : "Noted."));
    },
  });
}

function groupTable(groups: readonly DeadGroup[], nowMs: number): Table {
  return {
    columns: [
      { title: "ENDPOINT", least: 10 },
      { title: "BECAUSE", least: 8 },
      { title: "ANSWER", least: 6 },
      { title: "DEAD", align: "right" },
      { title: "FIRST", least: 8 },
      { title: "LAST", least: 8 },
      { title: "NOTE", least: 6 },
    ],
    rows: groups.map(({ endpointId, because, status, error, count, firstAt, lastAt, note }) => [
      { text: endpointId, tone: "name" },
      { text: because, tone: "bad" },
      status ?? error ?? "–",
      count,
      { text: relative(firstAt, nowMs), tone: "faint" },
      { text: relative(lastAt, nowMs), tone: "faint" },
      note === null ? "–" : `${note.by}: ${note.text}`,
    ]),
  };
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
