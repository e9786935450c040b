import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { isPosthornError } from "posthorn/client";
import type { RejectedCalls, RejectedRequest, RetakenRequest } from "posthorn/client";
import { CommandFailure, toldFailure } from "../../terminal/failure.js";
import { relative, size } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";
import type { Run } from "../define-command.js";
import {
  collect,
  collectAll,
  follow,
  FOLLOW_FLAG,
  followed,
  hintMore,
  LIST_FLAGS,
  teller,
} from "../listing.js";
import type { FollowOptions, ListOptions } from "../listing.js";

interface RejectedListOptions extends ListOptions, FollowOptions {
  readonly source?: string;
}

export function registerRejected(program: Command, context: CommandContext): void {
  const rejected = defineGroup(program, "rejected", "Look at requests that were not taken in, and why.");
  defineCommand<RejectedListOptions>(rejected, context, {
    form: "list",
    says: "List rejected requests, newest first.",
    examples: ["posthorn rejected list --source stripe", "posthorn rejected list --follow"],
    flags: [{ form: "--source <name>", says: "Sent to this source." }, ...LIST_FLAGS, FOLLOW_FLAG],
    run: async ({ options, client, print, context: around }) => {
      const { clock } = around;
      const { source } = options;
      const calls = client().rejected;
      const list: typeof calls.list = (page) => calls.list({ ...page, source });
      const table = (items: readonly RejectedRequest[]): Table => rejectedTable(items, clock.now());
      if (options.follow === true) {
        const tell = teller(print, table);
        await follow({ list, idOf: ({ id }) => id, tell, ...followed(options, around) });
        return;
      }
      const page = await collect(list, options);
      print.show(page, () => {
        if (page.items.length === 0) print.line({ text: "Nothing was rejected.", tone: "good" });
        else print.table(table(page.items));
      });
      hintMore(print, page, "posthorn rejected list");
    },
  });
  defineCommand<{ readonly output?: string }>(rejected, context, {
    form: "show <id>",
    says: "Show a rejected request with the diagnosis of what is wrong with it.",
    examples: ["posthorn rejected show rej_7Qm2", "posthorn rejected show rej_7Qm2 --output body.bin"],
    flags: [{ form: "--output <path>", says: "Write the first bytes of its body to this file." }],
    run: async ({ args: [id = ""], options: { output }, client, print, context: { clock } }) => {
      const calls = client().rejected;
      const request = await calls.get(id);
      if (output !== undefined) writeFileSync(output, await calls.body(id));
      print.show(request, () => drawRejected(print, request, clock.now()));
      if (output !== undefined) print.hint(`Its body is in ${output}.`);
    },
  });
  registerRetry(rejected, context);
}

interface RetryOptions {
  readonly source?: string;
}

function registerRetry(rejected: Command, context: CommandContext): void {
  defineCommand<RetryOptions>(rejected, context, {
    form: "retry [ids...]",
    says: "Take rejected requests in again after their source was mended; signatures are judged by the time of receipt.",
    examples: ["posthorn rejected retry rej_7Qm2", "posthorn rejected retry --source stripe"],
    flags: [{ form: "--source <name>", says: "All that are kept of this source, oldest first." }],
    run: retryRejected,
  });
}

interface Retried {
  readonly id: string;
  readonly events?: RetakenRequest["events"];
  readonly error?: string;
}

async function retryRejected({ args, options: { source }, client, print }: Run<RetryOptions>): Promise<void> {
  if (args.length > 0 === (source !== undefined)) {
    throw new CommandFailure("usage", "Name requests, or a source with --source; one of them.", {
      cure: "`posthorn rejected list` shows what is kept.",
    });
  }
  const calls = client().rejected;
  const ids =
    source === undefined
      ? args
      : (await collectAll((page) => calls.list({ ...page, source }))).map(({ id }) => id).toReversed();
  const results: Retried[] = [];
  // One after the other: what was sent first is stored first.
  for (const id of ids) results.push(await retryOne(calls, id));
  const failed = results.filter(({ error }) => error !== undefined);
  print.show({ items: results }, () => {
    if (results.length === 0) print.line("Nothing was rejected.");
    for (const { id, events = [], error } of results) {
      if (error !== undefined) print.line({ text: id, tone: "bad" }, `: ${error}`);
      else print.line({ text: id, tone: "name" }, `: ${eventWords(events)}`);
    }
  });
  if (failed.length > 0) {
    throw new CommandFailure("failed", `${failed.length} of ${results.length} could not be taken in.`, {
      cure: `See what is wrong with one: posthorn rejected show ${failed[0]?.id ?? "ID"}`,
    });
  }
}

async function retryOne(calls: RejectedCalls, id: string): Promise<Retried> {
  try {
    return { id, events: (await calls.retry(id)).events };
  } catch (error) {
    // One that is refused again does not stop the others; a server that is down does.
    if (isPosthornError(error) && toldFailure(error).exit === "failed") return { id, error: error.message };
    throw error;
  }
}

function eventWords(events: RetakenRequest["events"]): string {
  if (events.length === 0) return "taken in; it carries no event.";
  return events.map(({ id, verdict }) => `${verdict} as ${id}`).join(", ");
}

function rejectedTable(requests: readonly RejectedRequest[], nowMs: number): Table {
  return {
    columns: [
      { title: "ID" },
      { title: "SOURCE", least: 8 },
      { title: "CODE", least: 12 },
      { title: "SIZE", align: "right" },
      { title: "WHEN", least: 8 },
      { title: "DIAGNOSIS", least: 16 },
    ],
    rows: requests.map((request) => [
      { text: request.id, tone: "name" },
      request.source,
      { text: request.code, tone: "bad" },
      size(request.bodyBytes),
      { text: relative(request.receivedAt, nowMs), tone: "faint" },
      request.diagnosis[0] ?? request.message,
    ]),
  };
}

function drawRejected(print: Printer, request: RejectedRequest, nowMs: number): void {
  print.facts([
    ["rejected", { text: request.id, tone: "name" }],
    ["source", request.source],
    ["received", `${request.receivedAt} (${relative(request.receivedAt, nowMs)})`],
    ["method", request.method],
    ["body", size(request.bodyBytes)],
    ["code", { text: request.code, tone: "bad" }],
  ]);
  print.line();
  drawDiagnosis(print, request);
  print.line({
    text:
      request.retryable === true
        ? `When its source is mended, take it in with: posthorn rejected retry ${request.id}`
        : "It was not kept whole, and cannot be taken in again: its sender has to repeat it.",
    tone: "strong",
  });
  print.line();
  print.facts(Object.entries(request.headers));
}

/** What is wrong, then what forensics found. */
export function drawDiagnosis(
  print: Printer,
  found: { readonly code?: string; readonly message: string; readonly diagnosis: readonly string[] },
): void {
  // The message of a refusal ends with the diagnosis, which is shown below it.
  let message = found.message;
  for (const sentence of found.diagnosis.toReversed()) {
    if (message.endsWith(sentence)) message = message.slice(0, -sentence.length).trimEnd();
  }
  print.line(message);
  for (const sentence of found.diagnosis)
    print.line({ text: "→ ", tone: "warn" }, { text: sentence, tone: "strong" });
  // Other refusals say all that there is to say: a conflict has a right signature.
  if (found.diagnosis.length === 0 && (found.code ?? "signature_").startsWith("signature_")) {
    print.line({
      text: "Nothing could be proved about the cause; a wrong secret looks like this.",
      tone: "faint",
    });
  }
}
