import type { Command } from "commander";
import type { Source } from "posthorn/client";
import { confirm } from "../../terminal/confirm.js";
import { CommandFailure } from "../../terminal/failure.js";
import { duration } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup, YES_FLAG } from "../define-command.js";
import type { YesOption } from "../define-command.js";
import { collect, hintMore, LIST_FLAGS } from "../listing.js";
import type { ListOptions } from "../listing.js";
import { testSourceOf } from "./provider.js";
import { dedupText, placeText, SOURCE_FLAGS, sourceFields } from "./source-fields.js";
import type { SourceOptions } from "./source-fields.js";

interface AddOptions extends SourceOptions {
  readonly scheme?: string;
  readonly testSecret?: boolean;
}

export function registerSource(program: Command, context: CommandContext): void {
  const source = defineGroup(program, "source", "Manage where inbound events come from.");
  defineCommand<ListOptions>(source, context, {
    form: "list",
    says: "List sources.",
    examples: ["posthorn source list"],
    flags: LIST_FLAGS,
    run: async ({ options, client, print }) => {
      const calls = client().sources;
      const page = await collect((asked) => calls.list(asked), options);
      print.show(page, () => {
        if (page.items.length > 0) print.table(sourceTable(page.items));
        else print.line("There is no source yet: posthorn source add stripe --test-secret");
      });
      hintMore(print, page, "posthorn source list");
    },
  });
  addSource(source, context);
  defineCommand<object>(source, context, {
    form: "show <name>",
    says: "Show a source; its secrets are never shown.",
    examples: ["posthorn source show stripe"],
    run: async ({ args: [name = ""], client, print, url }) => {
      const found = await client().sources.get(name);
      print.show(found, () => drawSource(print, found, url()));
    },
  });
  changeSource(source, context);
}

function addSource(source: Command, context: CommandContext): void {
  defineCommand<AddOptions>(source, context, {
    form: "add <name>",
    says: "Add a source and print the URL to give to the provider.",
    examples: [
      "posthorn source add stripe --secret-file stripe.secret",
      "posthorn source add shop --scheme shopify --secret s3cr3t --order-by json:/order_id",
      "posthorn source add try --scheme stripe --test-secret",
    ],
    flags: [
      {
        form: "--scheme <name>",
        says: "How its requests are signed: a provider of docs/providers.md, hmac or none. Without it, as the source is named.",
      },
      {
        form: "--test-secret",
        says: "The public test secret with which `posthorn trigger` signs. Everybody knows it: for trying only.",
      },
      { form: "--allow-unverified", says: "Take in what nobody signs; goes with --scheme none." },
      ...SOURCE_FLAGS,
    ],
    run: async ({ args: [name = ""], options, client, print, url }) => {
      const scheme = options.scheme ?? name.replaceAll("-", "_");
      const fields = await sourceFields(options, context);
      const { testSecret, secret, secretFile } = options;
      if (testSecret === true && (secret !== undefined || secretFile !== undefined)) {
        throw new CommandFailure("usage", "--test-secret goes without another secret.");
      }
      const known = testSecret === true ? await testSourceOf(scheme) : {};
      const created = await client().sources.create({ name, scheme, ...fields, ...known });
      print.show(created, () => {
        print.line("Added the source ", { text: created.name, tone: "name" }, ". Let the provider send to:");
        print.line({ text: created.url ?? url() + created.path, tone: "strong" });
      });
      if (testSecret === true) {
        print.warn("This source believes a secret that everybody knows. Give it another before it is used.");
        print.hint(`Try it: posthorn trigger ${scheme}${name === scheme ? "" : ` --source ${name}`}`);
      }
    },
  });
}

function changeSource(source: Command, context: CommandContext): void {
  defineCommand<SourceOptions>(source, context, {
    form: "update <name>",
    says: "Change a source; what is not named stays as it is.",
    examples: ["posthorn source update stripe --secret-file new.secret --secret-file old.secret"],
    flags: SOURCE_FLAGS,
    run: async ({ args: [name = ""], options, client, print, url }) => {
      const change = await sourceFields(options, context);
      if (Object.keys(change).length === 0) {
        throw new CommandFailure("usage", "Nothing to change was named.", {
          cure: "posthorn source update --help lists what can be.",
        });
      }
      const changed = await client().sources.update(name, change);
      print.show(changed, () => drawSource(print, changed, url()));
    },
  });
  defineCommand<YesOption>(source, context, {
    form: "remove <name>",
    says: "Remove a source; requests to it are answered with 401 from then on, as a wrong signature is. Its events stay.",
    examples: ["posthorn source remove stripe"],
    flags: [YES_FLAG],
    run: async ({ args: [name = ""], options, client, print, context: { terminal } }) => {
      await confirm(terminal, `Remove the source ${name}? Its provider will be answered with 401.`, {
        yes: options.yes === true,
      });
      await client().sources.remove(name);
      print.show({ name, removed: true }, () => print.line(`Removed the source ${name}.`));
    },
  });
}

function sourceTable(sources: readonly Source[]): Table {
  return {
    columns: [
      { title: "NAME" },
      { title: "SCHEME", least: 8 },
      { title: "SECRETS", align: "right" },
      { title: "DEDUP", least: 8 },
      { title: "WINDOW" },
      { title: "ORDER BY", least: 8 },
      { title: "PATH", least: 8 },
    ],
    rows: sources.map((source) => [
      { text: source.name, tone: "name" },
      source.scheme === "none" ? { text: "none", tone: "warn" } : source.scheme,
      source.secretCount,
      dedupText(source.dedup),
      duration(source.windowS * 1000),
      placeText(source.key),
      source.path,
    ]),
  };
}

function drawSource(print: Printer, source: Source, url: string): void {
  print.facts([
    ["source", { text: source.name, tone: "name" }],
    ["send to", { text: source.url ?? url + source.path, tone: "strong" }],
    ["scheme", source.scheme],
    ["secrets", source.secretCount],
    ["tenant", source.tenant],
    ["duplicates", `known by ${dedupText(source.dedup)} for ${duration(source.windowS * 1000)}`],
    ["ordered by", placeText(source.key)],
    ["headers sent on", source.forwardHeaders.length === 0 ? "none" : source.forwardHeaders.join(", ")],
    ...Object.entries(source.options).map(([name, value]) => [name, JSON.stringify(value)] as const),
    ["created", source.createdAt],
  ]);
}
