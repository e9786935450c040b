import type { Command } from "commander";
import type { Endpoint } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { confirm } from "../../terminal/confirm.js";
import { CommandFailure } from "../../terminal/failure.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup, YES_FLAG } from "../define-command.js";
import type { YesOption } from "../define-command.js";
import { ENDPOINT_FLAGS, endpointFields, retryText } from "./endpoint-fields.js";
import type { EndpointOptions } from "./endpoint-fields.js";
import { registerEndpointTest } from "./endpoint-test.js";
import { collect, hintMore, LIST_FLAGS, TENANT_FLAG } from "../listing.js";
import type { ListOptions } from "../listing.js";

interface AddOptions extends EndpointOptions {
  readonly id?: string;
  readonly tenant?: string;
}

const TONES: Readonly<Record<string, Tone>> = { active: "good", paused: "warn", disabled: "bad" };

export function registerEndpoint(program: Command, context: CommandContext): void {
  const endpoint = defineGroup(program, "endpoint", "Manage where outbound events go.");
  defineCommand<ListOptions & { readonly tenant?: string }>(endpoint, context, {
    form: "list",
    says: "List endpoints.",
    examples: ["posthorn endpoint list"],
    flags: [TENANT_FLAG, ...LIST_FLAGS],
    run: async ({ options, client, print }) => {
      const { tenant } = options;
      const calls = client().endpoints;
      const page = await collect((asked) => calls.list({ ...asked, tenant }), options);
      print.show(page, () => {
        if (page.items.length > 0) print.table(endpointTable(page.items));
        else print.line("There is no endpoint yet: posthorn endpoint add https://example.com/webhooks");
      });
      hintMore(print, page, "posthorn endpoint list");
    },
  });
  addEndpoint(endpoint, context);
  defineCommand<object>(endpoint, context, {
    form: "show <id>",
    says: "Show an endpoint; its secrets are never shown.",
    examples: ["posthorn endpoint show ep_shop"],
    run: async ({ args: [id = ""], client, print }) => {
      const found = await client().endpoints.get(id);
      print.show(found, () => drawEndpoint(print, found));
    },
  });
  changeEndpoint(endpoint, context);
  stopEndpoint(endpoint, context);
  registerEndpointTest(endpoint, context);
}

function addEndpoint(endpoint: Command, context: CommandContext): void {
  defineCommand<AddOptions>(endpoint, context, {
    form: "add <address>",
    says: "Add an endpoint; a secret is made where none is given, and shown once.",
    examples: [
      "posthorn endpoint add https://example.com/webhooks --types 'invoice.*'",
      "posthorn endpoint add http://127.0.0.1:3000/hooks --id ep_shop",
    ],
    flags: [
      { form: "--id <id>", says: "Its id, as ep_shop; one is made where none is given." },
      { form: "--tenant <name>", says: "Whose endpoint it is." },
      ...ENDPOINT_FLAGS,
    ],
    run: async ({ args: [url = ""], options, client, print }) => {
      const { id, tenant } = options;
      const created = await client().endpoints.create({
        url,
        ...(id !== undefined && { id }),
        ...(tenant !== undefined && { tenant }),
        ...(await endpointFields(options, context)),
      });
      print.show(created, () => {
        print.line("Added the endpoint ", { text: created.id, tone: "name" }, ` for ${created.url}.`);
        if (created.secret === undefined) return;
        print.line("The receiver verifies with this secret, which is not shown again:");
        print.line({ text: created.secret, tone: "strong" });
      });
      print.hint({ text: `Try it: posthorn endpoint test ${created.id}`, tone: "faint" });
    },
  });
}

function changeEndpoint(endpoint: Command, context: CommandContext): void {
  defineCommand<EndpointOptions & { readonly to?: string }>(endpoint, context, {
    form: "update <id>",
    says: "Change an endpoint; what waits for it goes where it is then.",
    examples: [
      "posthorn endpoint update ep_shop --to https://example.com/new",
      "posthorn endpoint update ep_shop --secret-file new.secret --secret-file old.secret",
    ],
    flags: [{ form: "--to <address>", says: "Its new URL." }, ...ENDPOINT_FLAGS],
    run: async ({ args: [id = ""], options, client, print }) => {
      const change = {
        ...(options.to !== undefined && { url: options.to }),
        ...(await endpointFields(options, context)),
      };
      if (Object.keys(change).length === 0) {
        throw new CommandFailure("usage", "Nothing to change was named.", {
          cure: "posthorn endpoint update --help lists what can be.",
        });
      }
      const changed = await client().endpoints.update(id, change);
      print.show(changed, () => drawEndpoint(print, changed));
    },
  });
}

function stopEndpoint(endpoint: Command, context: CommandContext): void {
  for (const [verb, says, done] of [
    [
      "pause",
      "Stop sending to an endpoint; what comes for it waits in order.",
      "is paused; what comes for it waits in order.",
    ],
    ["resume", "Go on sending to an endpoint that was paused or disabled.", "gets what waited, in order."],
  ] as const) {
    defineCommand<object>(endpoint, context, {
      form: `${verb} <id>`,
      says,
      examples: [`posthorn endpoint ${verb} ep_shop`],
      run: async ({ args: [id = ""], client, print }) => {
        const changed = await client().endpoints[verb](id);
        print.show(changed, () => print.line({ text: changed.id, tone: "name" }, ` ${done}`));
      },
    });
  }
  defineCommand<YesOption>(endpoint, context, {
    form: "remove <id>",
    says: "Remove an endpoint and cancel what waits for it.",
    examples: ["posthorn endpoint remove ep_shop"],
    flags: [YES_FLAG],
    run: async ({ args: [id = ""], options, client, print, context: { terminal } }) => {
      await confirm(terminal, `Remove the endpoint ${id}? What waits for it is cancelled and never sent.`, {
        yes: options.yes === true,
      });
      await client().endpoints.remove(id);
      print.show({ id, removed: true }, () => print.line(`Removed the endpoint ${id}.`));
    },
  });
}

function endpointTable(endpoints: readonly Endpoint[]): Table {
  return {
    columns: [
      { title: "ID" },
      { title: "STATE" },
      { title: "URL", least: 20 },
      { title: "SOURCES", least: 8 },
      { title: "TYPES", least: 8 },
      { title: "ORDER" },
    ],
    rows: endpoints.map((endpoint) => [
      { text: endpoint.id, tone: "name" },
      { text: endpoint.state, tone: TONES[endpoint.state] ?? "plain" },
      endpoint.url,
      endpoint.sources.join(" "),
      endpoint.types.join(" "),
      endpoint.order,
    ]),
  };
}

function drawEndpoint(print: Printer, endpoint: Endpoint): void {
  const because = endpoint.because === null ? "" : `: ${endpoint.because}`;
  print.facts([
    ["endpoint", { text: endpoint.id, tone: "name" }],
    ["url", endpoint.url],
    ["state", { text: endpoint.state + because, tone: TONES[endpoint.state] ?? "plain" }],
    ["tenant", endpoint.tenant],
    ["sources", endpoint.sources.join(" ")],
    ["types", endpoint.types.join(" ")],
    ["in order", ORDERS[endpoint.order] ?? endpoint.order],
    ["given up", DEAD[endpoint.dead ?? "default"] ?? String(endpoint.dead)],
    ["retries", retryText(endpoint.retry)],
    ["in flight", `${endpoint.maxInFlight} at most`],
    ["secrets", endpoint.secretCount],
  ]);
  if (endpoint.state !== "active") print.hint(`Go on: posthorn endpoint resume ${endpoint.id}`);
}

const ORDERS: Readonly<Record<string, string>> = {
  key: "per key",
  endpoint: "all of them, one after the other",
  none: "no",
};

const DEAD: Readonly<Record<string, string>> = {
  default: "halts the lane of a key; without a key, the others go on",
  halt: "halts its lane until somebody looks",
  park: "parks its lane",
  skip: "is passed over",
};
