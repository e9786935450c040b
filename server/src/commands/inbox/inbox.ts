import type { Command } from "commander";
import type { InboxEvent, InboxQuery, InboxRow, RefusedEvent } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { relative } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";
import { deliveryTable } from "../deliveries/delivery-table.js";
import { registerHeld } from "./held.js";
import { registerInboxDeeds } from "./inbox-deeds.js";
import { INBOX_FLAGS } from "./inbox-flags.js";
import { collect, hintMore, LIST_FLAGS, TENANT_FLAG } from "../listing.js";
import type { ListOptions } from "../listing.js";

interface InboxOptions extends ListOptions, Omit<InboxQuery, "outcome"> {
  readonly outcome?: InboxRow["outcome"];
  readonly id?: string;
}

const TONES: Readonly<Record<string, Tone>> = {
  success: "good",
  skipped: "faint",
  dropped: "faint",
  failed: "bad",
  dead: "bad",
  pending: "warn",
  held: "warn",
};

/** Adds `posthorn inbox`. */
export function registerInbox(program: Command, context: CommandContext): void {
  const inbox = defineGroup(program, "inbox", "Look at what came in for handlers, and what they made of it.");
  defineCommand<InboxOptions>(inbox, context, {
    form: "list",
    says: "List rows of the inbox, newest first.",
    examples: [
      "posthorn inbox list --source stripe --outcome failed",
      "posthorn inbox list --source stripe --id evt_1Q",
    ],
    flags: [
      ...INBOX_FLAGS,
      { form: "--outcome <outcome>", says: "success, skipped, failed, pending or dropped." },
      { form: "--id <text>", says: "Ids that begin so; together with --source." },
      ...LIST_FLAGS,
    ],
    run: async ({ options, client, print, context: { clock } }) => {
      const { source, consumer, type, tenant, since, until, outcome, id } = options;
      const query = { source, consumer, type, tenant, since, until, outcome, id };
      const calls = client().inbox;
      const page = await collect((asked) => calls.list({ ...query, ...asked }), options);
      print.show(page, () => {
        if (page.items.length === 0) print.line("Nothing in the inbox matches.");
        else print.table(inboxTable(page.items, clock.now()));
      });
      hintMore(print, page, "posthorn inbox list");
    },
  });
  registerShow(inbox, context);
  registerRefused(inbox, context);
  registerHeld(inbox, context);
  registerInboxDeeds(inbox, context);
}

function registerShow(inbox: Command, context: CommandContext): void {
  defineCommand<{ readonly tenant?: string }>(inbox, context, {
    form: "show <event>",
    says: "Show one event of the inbox: what each consumer made of it, its failures, and where it waits.",
    examples: ["posthorn inbox show stripe/evt_1Q"],
    flags: [TENANT_FLAG],
    run: async ({ args: [id = ""], options: { tenant }, client, print, context: { clock } }) => {
      const event = await client().inbox.get(id, { tenant });
      print.show(event, () => drawEvent(print, event, clock.now()));
    },
  });
}

interface RefusedOptions extends ListOptions {
  readonly source?: string;
  readonly because?: RefusedEvent["because"];
  readonly tenant?: string;
}

function registerRefused(inbox: Command, context: CommandContext): void {
  defineCommand<RefusedOptions>(inbox, context, {
    form: "refused",
    says: "List what was refused for good: conflicts and stale events.",
    examples: ["posthorn inbox refused --because conflict"],
    flags: [
      { form: "--source <name>", says: "From this source." },
      { form: "--because <reason>", says: "conflict or stale." },
      { form: "--tenant <name>", says: "Of this tenant." },
      ...LIST_FLAGS,
    ],
    run: async ({ options, client, print, context: { clock } }) => {
      const { source, because, tenant } = options;
      const calls = client().inbox;
      const page = await collect((asked) => calls.refused({ source, because, tenant, ...asked }), options);
      print.show(page, () => {
        if (page.items.length === 0) print.line({ text: "Nothing was refused.", tone: "good" });
        else print.table(refusedTable(page.items, clock.now()));
      });
      hintMore(print, page, "posthorn inbox refused");
    },
  });
}

function inboxTable(rows: readonly InboxRow[], nowMs: number): Table {
  return {
    columns: [
      { title: "EVENT", least: 12 },
      { title: "OUTCOME" },
      { title: "CONSUMER", least: 8 },
      { title: "TYPE", least: 10 },
      { title: "ROUND", align: "right" },
      { title: "WHEN", least: 8 },
      { title: "ERROR", least: 10 },
    ],
    rows: rows.map(({ id, outcome, consumerId, type, round, receivedAt, error }) => [
      { text: id, tone: "name" },
      { text: outcome, tone: TONES[outcome] ?? "plain" },
      consumerId,
      type,
      round,
      { text: relative(receivedAt, nowMs), tone: "faint" },
      error ?? "",
    ]),
  };
}

function refusedTable(events: readonly RefusedEvent[], nowMs: number): Table {
  return {
    columns: [
      { title: "EVENT", least: 12 },
      { title: "BECAUSE" },
      { title: "TYPE", least: 10 },
      { title: "RECEIPTS", align: "right" },
      { title: "LAST", least: 8 },
      { title: "BODY" },
    ],
    rows: events.map(({ id, because, type, receipts, lastRefusedAt, bodyHash }) => [
      { text: id, tone: "name" },
      { text: because, tone: "warn" },
      type,
      receipts,
      { text: relative(lastRefusedAt, nowMs), tone: "faint" },
      bodyHash.slice(0, 12),
    ]),
  };
}

function drawEvent(print: Printer, event: InboxEvent, nowMs: number): void {
  const { id, tenant, rows, failures, deliveries, refused } = event;
  // A server of another version may not say it.
  const { held = [] } = event as Partial<InboxEvent>;
  print.line({ text: id, tone: "strong" }, tenant === "default" ? "" : `  of ${tenant}`);
  if (rows.length === 0) print.line("No handler has ended yet.");
  else print.table(inboxTable(rows, nowMs));
  for (const { consumerId, result } of rows)
    if (result !== null) print.line(`  ${consumerId} returned ${result}`);
  for (const { sentence, heldSince, id: heldId } of held) {
    print.line({ text: `  ${sentence}`, tone: heldSince === null ? "plain" : "warn" });
    if (heldSince !== null)
      print.line({
        text: `  Go on without what is missing: posthorn inbox release ${heldId}`,
        tone: "strong",
      });
  }
  if (failures.length > 0) print.line();
  for (const { consumerId, attempt, at, error, fingerprint } of failures) {
    const cause = fingerprint === null ? "" : `  (${fingerprint})`;
    print.line(
      `  ${consumerId}, attempt ${attempt}, ${relative(at, nowMs)}: ${error ?? "its worker was lost"}${cause}`,
    );
  }
  if (deliveries.length > 0) {
    print.line();
    print.table(deliveryTable(deliveries));
  }
  for (const { because, bodyHash, receipts } of refused)
    print.line({
      text: `  refused as ${because}, ${receipts} times, body ${bodyHash.slice(0, 12)}`,
      tone: "warn",
    });
}
