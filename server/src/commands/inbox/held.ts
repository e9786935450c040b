import type { Command } from "commander";
import type { HeldEvent } from "posthorn/client";
import { confirm } from "../../terminal/confirm.js";
import { count, relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, YES_FLAG } from "../define-command.js";
import type { YesOption } from "../define-command.js";
import { collect, hintMore, LIST_FLAGS, TENANT_FLAG } from "../listing.js";
import type { ListOptions } from "../listing.js";
import { NOTE_FLAG } from "../operations/operations.js";

interface HeldOptions extends ListOptions {
  readonly source?: string;
  readonly key?: string;
  readonly tenant?: string;
}

interface ReleaseOptions extends YesOption {
  readonly tenant?: string;
  readonly note?: string;
}

/** Adds what is held because others of its key have not come, and how it is let go. */
export function registerHeld(inbox: Command, context: CommandContext): void {
  defineCommand<HeldOptions>(inbox, context, {
    form: "held",
    says: "List events that wait for others of their key: what is missing, since when, and until when at the latest.",
    examples: ["posthorn inbox held", "posthorn inbox held --source shop --key 'order 7'"],
    flags: [
      { form: "--source <name>", says: "From this source." },
      { form: "--key <key>", says: "Of this key." },
      TENANT_FLAG,
      ...LIST_FLAGS,
    ],
    run: async ({ options, client, print, context: { clock } }) => {
      const { source, key, tenant } = options;
      const calls = client().inbox;
      const page = await collect((asked) => calls.held({ source, key, tenant, ...asked }), options);
      print.show(page, () => {
        if (page.items.length === 0) print.line({ text: "Nothing is held.", tone: "good" });
        else print.table(heldTable(page.items, clock.now()));
      });
      const [first] = page.items;
      if (first !== undefined)
        print.hint({
          text: `Go on without what is missing: posthorn inbox release ${first.id}`,
          tone: "faint",
        });
      hintMore(print, page, "posthorn inbox held");
    },
  });
  defineCommand<ReleaseOptions>(inbox, context, {
    form: "release <event>",
    says: "Give up what a held event waits for: it goes on now, after those that are held before it.",
    examples: ['posthorn inbox release evt_2ZbGqm --note "7 and 8 were never sent"'],
    flags: [TENANT_FLAG, NOTE_FLAG, YES_FLAG],
    run: async ({ args: [id = ""], options, client, print, context: { terminal } }) => {
      const { tenant, note } = options;
      await confirm(terminal, `Release ${id}? What is missing before it is late when it comes after all.`, {
        yes: options.yes === true,
      });
      const released = await client().inbox.release(id, { tenant, note });
      print.show(released, () => {
        const gaps = released.gaps.map(({ from, to }) => (from === to ? from : `${from} to ${to}`));
        print.line(
          `Go on now: ${count(released.events, "event")}. Given up: ${gaps.join(", ") || "nothing"}.`,
        );
      });
    },
  });
}

/** What is held, and for what. */
function heldTable(events: readonly HeldEvent[], nowMs: number): Table {
  return {
    columns: [
      { title: "EVENT", least: 12 },
      { title: "SOURCE", least: 6 },
      { title: "KEY", least: 8 },
      { title: "SEQUENCE", align: "right" },
      { title: "MISSING" },
      { title: "SINCE", least: 8 },
      { title: "AT THE LATEST", least: 8 },
      { title: "CONSUMERS", least: 8 },
    ],
    rows: events.map(({ id, source, key, sequence, missing, heldSince, heldUntil, consumerIds }) => [
      { text: id, tone: "name" },
      source,
      key,
      sequence,
      missing === null
        ? { text: "others held", tone: "faint" }
        : {
            text: missing.from === missing.to ? missing.from : `${missing.from}–${missing.to}`,
            tone: "warn",
          },
      { text: relative(heldSince, nowMs), tone: "faint" },
      { text: relative(heldUntil, nowMs), tone: "faint" },
      consumerIds.join(" "),
    ]),
  };
}
