import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { orLook } from "../../terminal/failure.js";
import type { EventDetail, EventSummary } from "posthorn/client";
import { relative, size } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";
import type { Run } from "../define-command.js";
import { deliveryTable, NO_DELIVERIES } from "../deliveries/delivery-table.js";
import {
  collect,
  follow,
  FOLLOW_FLAG,
  followed,
  hintMore,
  LIST_FLAGS,
  teller,
  TENANT_FLAG,
} from "../listing.js";
import type { FollowOptions, ListOptions } from "../listing.js";

interface TenantOption {
  readonly tenant?: string;
}

interface EventListOptions extends ListOptions, FollowOptions, TenantOption {
  readonly source?: string;
  readonly type?: string;
  readonly key?: string;
  readonly since?: string;
  readonly until?: string;
}

interface BodyOptions extends TenantOption {
  readonly output?: string;
}

export function registerEvents(program: Command, context: CommandContext): void {
  const events = defineGroup(program, "events", "Look at events that were received or published.");
  defineCommand<EventListOptions>(events, context, {
    form: "list",
    says: "List events, newest first.",
    examples: [
      "posthorn events list --type invoice.paid --limit 20",
      "posthorn events list --source stripe --follow",
    ],
    flags: [
      { form: "--source <name>", says: "From this source." },
      { form: "--type <type>", says: "Of this type." },
      { form: "--key <key>", says: "With this key." },
      { form: "--since <time>", says: "Stored since then: 24h, or 2027-01-31T12:00:00Z." },
      { form: "--until <time>", says: "Stored before then." },
      TENANT_FLAG,
      ...LIST_FLAGS,
      FOLLOW_FLAG,
    ],
    run: listEvents,
  });
  defineCommand<TenantOption>(events, context, {
    form: "show <id>",
    says: "Show an event and what became of it at each endpoint.",
    examples: ["posthorn events show evt_2ZbGqk"],
    flags: [TENANT_FLAG],
    run: async ({ args: [id = ""], options, client, print, context: { clock } }) => {
      const event = await orLook(
        client().events.get(id, options.tenant === undefined ? {} : { tenant: options.tenant }),
        `Is it the provider's id, or a delivery's? posthorn why ${id}`,
      );
      print.show(event, () => drawEvent(print, event, clock.now()));
    },
  });
  defineCommand<BodyOptions>(events, context, {
    form: "body <id>",
    says: "Print the exact bytes of an event's body; on a terminal, what could act upon it as escapes.",
    examples: ["posthorn events body evt_2ZbGqk | jq .", "posthorn events body evt_2ZbGqk --output body.bin"],
    flags: [{ form: "--output <path>", says: "Write them to this file." }, TENANT_FLAG],
    run: printBody,
  });
}

async function listEvents({ options, client, print, context }: Run<EventListOptions>): Promise<void> {
  const { source, type, key, tenant, since, until } = options;
  const { events } = client();
  const list = (page: { readonly after?: string | undefined; readonly limit?: number | undefined }) =>
    events.list({ ...page, source, type, key, tenant, since, until });
  if (options.follow === true) {
    await follow({
      list,
      idOf: ({ tenant: of, id }) => `${of} ${id}`,
      tell: teller(print, (items) => eventTable(items, context.clock.now())),
      ...followed(options, context),
    });
    return;
  }
  const page = await collect(list, options);
  print.show(page, () => {
    if (page.items.length === 0) print.line("There are no such events.");
    else print.table(eventTable(page.items, context.clock.now()));
  });
  hintMore(print, page, "posthorn events list");
}

function eventTable(events: readonly EventSummary[], nowMs: number): Table {
  // Only where it tells something: most installations have one.
  const byTenant = events.some(({ tenant }) => tenant !== "default");
  return {
    columns: [
      { title: "ID" },
      ...(byTenant ? [{ title: "TENANT", least: 6 }] : []),
      { title: "SOURCE", least: 8 },
      { title: "TYPE", least: 12 },
      { title: "KEY", least: 8 },
      { title: "SIZE", align: "right" },
      { title: "WHEN", least: 8 },
    ],
    rows: events.map((event) => [
      { text: event.id, tone: "name" },
      ...(byTenant ? [event.tenant] : []),
      event.source,
      event.type,
      event.key ?? "–",
      size(event.bodyBytes),
      { text: relative(event.time, nowMs), tone: "faint" },
    ]),
  };
}

function drawEvent(print: Printer, event: EventDetail, nowMs: number): void {
  print.facts([
    ["event", { text: event.id, tone: "name" }],
    ["tenant", event.tenant],
    ["source", event.source],
    ["type", event.type],
    ["key", event.key ?? "–"],
    ["time", `${event.time} (${relative(event.time, nowMs)})`],
    ["body", `${size(event.bodyBytes)} of ${event.contentType}`],
    ...(event.deliverAt === null ? [] : [["deliver at", event.deliverAt] as const]),
    ...(event.expiresAt === null ? [] : [["expires at", event.expiresAt] as const]),
    ...Object.entries(event.headers).map(([name, value]) => [`header ${name}`, value] as const),
  ]);
  print.line();
  if (event.deliveries.length === 0) print.line(NO_DELIVERIES);
  else print.table(deliveryTable(event.deliveries));
}

async function printBody({
  args: [id = ""],
  options,
  client,
  print,
  context,
}: Run<BodyOptions>): Promise<void> {
  const { tenant, output } = options;
  const body = await client().events.body(id, tenant === undefined ? {} : { tenant });
  if (output !== undefined) {
    writeFileSync(output, body);
    print.show({ id, bytes: body.length, output }, () =>
      print.line(`Wrote ${size(body.length)} to ${output}.`),
    );
  } else if (print.json) {
    print.show({ id, bytes: body.length, body: Buffer.from(body).toString("base64") }, () => undefined);
  } else if (context.terminal.isTty) {
    print.block(new TextDecoder().decode(body));
  } else {
    // A pipe gets the exact bytes: somebody may check their signature.
    context.terminal.write(body);
  }
}
