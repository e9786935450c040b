import type { Command } from "commander";
import type { AuditEntry, AuditQuery } from "posthorn/client";
import { relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";
import { collect, hintMore, LIST_FLAGS } from "../listing.js";
import type { ListOptions } from "../listing.js";

export function registerAudit(program: Command, context: CommandContext): void {
  const audit = defineGroup(program, "audit", "Look at who changed what.");
  defineCommand<AuditQuery & ListOptions>(audit, context, {
    form: "list",
    says: "List changes by the API, newest first; with --json also before and after.",
    examples: ["posthorn audit list", "posthorn audit list --subject ep_shop --json"],
    flags: [
      { form: "--subject <id>", says: "Of this endpoint, source, lane …" },
      { form: "--action <action>", says: "As endpoint.update." },
      { form: "--kind <kind>", says: "As endpoint." },
      { form: "--actor <token>", says: "By the token of this id." },
      { form: "--since <time>", says: "Since then: 24h, or 2027-01-31T12:00:00Z." },
      { form: "--until <time>", says: "Before then." },
      ...LIST_FLAGS,
    ],
    run: async ({ options, client, print, context: { clock } }) => {
      const { subject, action, kind, actor, since, until } = options;
      const calls = client().audit;
      const query = { subject, action, kind, actor, since, until };
      const page = await collect((asked) => calls.list({ ...query, ...asked }), options);
      print.show(page, () => {
        if (page.items.length === 0) print.line("There are no such changes.");
        else print.table(auditTable(page.items, clock.now()));
      });
      hintMore(print, page, "posthorn audit list");
    },
  });
}

function auditTable(entries: readonly AuditEntry[], nowMs: number): Table {
  return {
    columns: [
      { title: "WHAT", least: 12 },
      { title: "OF", least: 10 },
      { title: "BY", least: 6 },
      { title: "RESULT" },
      { title: "WHEN", least: 8 },
    ],
    rows: entries.map(({ action, subject, by, status, at }) => [
      action,
      { text: subject.id ?? "–", tone: "name" },
      by.name,
      status === null ? { text: "not known", tone: "warn" } : status,
      { text: relative(at, nowMs), tone: "faint" },
    ]),
  };
}
