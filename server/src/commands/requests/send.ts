import type { Command } from "commander";
import type { EventInput } from "posthorn/client";
import type { CommandContext } from "../command-context.js";
import { defineCommand, gather, instantAfter } from "../define-command.js";
import type { Flag, Run } from "../define-command.js";
import { bodyOf, parseData } from "../events/event-body.js";
import type { BodyOptions } from "../events/event-body.js";
import { headersOf } from "./raw-request.js";

interface SendOptions extends BodyOptions {
  readonly type: string;
  readonly contentType?: string;
  readonly key?: string;
  readonly id?: string;
  readonly tenant?: string;
  readonly source?: string;
  readonly deliverAt?: string;
  readonly expiresAt?: string;
  readonly header?: readonly string[];
  readonly idempotencyKey?: string;
}

export function registerSend(program: Command, context: CommandContext): void {
  defineCommand<SendOptions>(program, context, {
    form: "send",
    says: "Publish one event: every endpoint that matches it gets it.",
    examples: [
      `posthorn send --type invoice.paid --key customer_7 --data '{"amount":1999}'`,
      "posthorn send --type report.ready --body-file report.pdf --content-type application/pdf",
      "echo '{}' | posthorn send --type ping --stdin --id ping-2027-01-31",
    ],
    flags: sendFlags(context),
    run: send,
  });
}

function sendFlags({ clock }: CommandContext): readonly Flag[] {
  const parseInstant = instantAfter(() => clock.now());
  return [
    { form: "--type <type>", says: "Its type, as invoice.paid.", required: true },
    { form: "--data <json>", says: "Its data, sent as { type, timestamp, data }.", parse: parseData },
    { form: "--body-file <path>", says: "Exact bytes to send instead; - is the standard input." },
    { form: "--stdin", says: "The same as --body-file -." },
    { form: "--content-type <type>", says: "Of these bytes." },
    { form: "--key <key>", says: "Events of one key arrive in order." },
    { form: "--id <id>", says: "Its id: sent a second time, it is a duplicate." },
    { form: "--idempotency-key <key>", says: "The same without an id of its own." },
    { form: "--tenant <name>", says: "Whose event it is." },
    { form: "--source <name>", says: "The source that endpoints see." },
    { form: "--header <name: value>", says: "A header to send along; several times.", parse: gather },
    { form: "--deliver-at <time>", says: "Not before: an instant, or 15m from now.", parse: parseInstant },
    { form: "--expires-at <time>", says: "Not after that.", parse: parseInstant },
  ];
}

async function send({ options, client, print, context }: Run<SendOptions>): Promise<void> {
  const body = await bodyOf(options, context);
  const { type, data, contentType, key, id, tenant, source, deliverAt, expiresAt, header } = options;
  const event: EventInput = {
    type,
    ...(body === undefined ? { data: data ?? {} } : { body: Buffer.from(body).toString("base64") }),
    ...(contentType !== undefined && { contentType }),
    ...(key !== undefined && { key }),
    ...(id !== undefined && { id }),
    ...(tenant !== undefined && { tenant }),
    ...(source !== undefined && { source }),
    ...(deliverAt !== undefined && { deliverAt }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(header !== undefined && { headers: headersOf(header) }),
  };
  const { idempotencyKey } = options;
  const published = await client().events.publish(
    event,
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
  print.show(published, () => {
    if (published.duplicate)
      print.line({ text: published.id, tone: "name" }, " was published before; nothing was sent.");
    else print.line("Published ", { text: published.id, tone: "name" }, ".");
  });
  const whose = tenant === undefined ? "" : ` --tenant ${tenant}`;
  print.hint({ text: `See what becomes of it: posthorn events show ${published.id}${whose}`, tone: "faint" });
}
