import type { Command } from "commander";
import type { Token, TokenInput } from "posthorn/client";
import { confirm } from "../../terminal/confirm.js";
import { relative } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup, instantAfter, YES_FLAG } from "../define-command.js";
import type { YesOption } from "../define-command.js";
import { collect, hintMore, LIST_FLAGS } from "../listing.js";
import type { ListOptions } from "../listing.js";
import { checkWhere, createOffline, DATABASE_FLAGS } from "./offline-token.js";

interface CreateOptions {
  readonly read?: boolean;
  readonly metrics?: boolean;
  readonly expires?: string;
  readonly offline?: boolean;
}

export function registerToken(program: Command, context: CommandContext): void {
  const token = defineGroup(program, "token", "Manage who may use the API.");
  defineCommand<ListOptions>(token, context, {
    form: "list",
    says: "List tokens; what they open with is never shown again.",
    examples: ["posthorn token list"],
    flags: LIST_FLAGS,
    run: async ({ options, client, print, context: { clock } }) => {
      const calls = client().tokens;
      const page = await collect((asked) => calls.list(asked), options);
      print.show(page, () => print.table(tokenTable(page.items, clock.now())));
      hintMore(print, page, "posthorn token list");
    },
  });
  registerCreate(token, context);
  defineCommand<YesOption>(token, context, {
    form: "revoke <id>",
    says: "Take a token back; whoever uses it is locked out within seconds.",
    examples: ["posthorn token revoke tok_4f"],
    flags: [YES_FLAG],
    run: async ({ args: [id = ""], options, client, print, context: { terminal } }) => {
      await confirm(terminal, `Revoke the token ${id}?`, { yes: options.yes === true });
      await client().tokens.remove(id);
      print.show({ id, revoked: true }, () => print.line(`Revoked ${id}.`));
    },
  });
}

function registerCreate(token: Command, context: CommandContext): void {
  const create = defineCommand<CreateOptions>(token, context, {
    form: "create <name>",
    says: "Make a token and show it, once.",
    examples: [
      "posthorn token create ci --expires 90d",
      "posthorn token create dashboard --read",
      "posthorn token create rescue --offline --data-dir /var/lib/posthorn",
    ],
    flags: [
      { form: "--read", says: "It may look, and change nothing." },
      { form: "--metrics", says: "It may see /metrics, and nothing else: for Prometheus." },
      {
        form: "--expires <time>",
        says: "Until when it holds: an instant, or 90d from now. Without it, until it is revoked.",
        parse: instantAfter(() => context.clock.now()),
      },
      {
        form: "--offline",
        says: "Write it into the database itself, for when every token is lost; a server may run meanwhile.",
      },
      ...DATABASE_FLAGS,
    ],
    run: async ({ args: [name = ""], options: { read, metrics, expires, offline }, client, print }) => {
      const wanted: TokenInput = {
        name,
        scope: metrics === true ? "metrics" : read === true ? "read" : "full",
        ...(expires !== undefined && { expiresAt: expires }),
      };
      checkWhere(create, offline === true);
      const created =
        offline === true
          ? await createOffline(create, context, { print, wanted })
          : await client().tokens.create(wanted);
      print.show(created, () => {
        // On a line of its own, whole: facts are cut to the width of the terminal, and it is not shown again.
        print.line("token        ", { text: created.token, tone: "strong" });
        print.facts([
          ["id", { text: created.id, tone: "name" }],
          ["may", MAY[created.scope]],
          ["fingerprint", created.fingerprint],
          ["expires", created.expiresAt ?? "never"],
        ]);
      });
      print.hint("Keep it now: it is not shown again.");
    },
  });
}

const MAY: Readonly<Record<Token["scope"], string>> = {
  full: "look and change",
  read: "look",
  metrics: "see /metrics",
};

function tokenTable(tokens: readonly Token[], nowMs: number): Table {
  return {
    columns: [
      { title: "ID" },
      { title: "NAME", least: 8 },
      { title: "MAY" },
      { title: "FINGERPRINT" },
      { title: "EXPIRES", least: 8 },
      { title: "LAST USED", least: 8 },
      { title: "CREATED", least: 8 },
    ],
    rows: tokens.map((token) => [
      { text: token.id, tone: "name" },
      token.name,
      token.scope,
      token.fingerprint,
      expiryOf(token, nowMs),
      { text: token.lastUsedAt === null ? "never" : relative(token.lastUsedAt, nowMs), tone: "faint" },
      { text: relative(token.createdAt, nowMs), tone: "faint" },
    ]),
  };
}

function expiryOf({ expiresAt }: Token, nowMs: number): Table["rows"][number][number] {
  if (expiresAt === null) return "never";
  return { text: relative(expiresAt, nowMs), tone: Date.parse(expiresAt) <= nowMs ? "bad" : "plain" };
}
