import type { Command } from "commander";
import type { Client, Found, LaneWaiting, Story } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { CommandFailure } from "../../terminal/failure.js";
import { duration, size } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";
import { explainLane } from "../lanes/lanes.js";
import { TENANT_FLAG } from "../listing.js";

interface WhyOptions {
  readonly tenant?: string;
}

export function registerWhy(program: Command, context: CommandContext): void {
  defineCommand<WhyOptions>(program, context, {
    form: "why <id...>",
    says: "Tell the story of an event, or why a lane, an endpoint or a source stands as it stands.",
    examples: [
      "posthorn why evt_2ZbGqk",
      "posthorn why in_1PXk2eLkdIwHu7ix",
      "posthorn why 'webhook-id: evt_2ZbGqk'",
      "posthorn why 12",
    ],
    flags: [TENANT_FLAG],
    run: async ({ args, options, client, print }) => {
      const calls = client();
      const text = args.join(" ");
      const { items } = await calls.search(text, options);
      const found = items[0];
      if (found === undefined) {
        throw new CommandFailure("failed", `Nothing has this id or name: ${text}.`, {
          code: "not_found",
          cure: "Give an event's id, the provider's id, a delivery, a lane, an endpoint, a source, or a rejected request.",
        });
      }
      await explain(calls, print, found);
      const others = items.slice(1, 4).filter(({ kind, id }) => kind !== found.kind || id !== found.id);
      for (const { kind, id } of others)
        print.hint({ text: `The same text also names the ${kind} ${id}.`, tone: "faint" });
    },
  });
}

async function explain(calls: Client, print: Printer, found: Found): Promise<void> {
  switch (found.kind) {
    case "event":
    case "delivery": {
      const story = await calls.story(found.id, found.tenant === null ? {} : { tenant: found.tenant });
      return print.show(story, () => drawStory(print, story));
    }
    case "lane": {
      const waiting = await calls.lanes.waiting(found.id, { first: 5, last: 2 });
      return print.show(waiting, () => drawLane(print, waiting));
    }
    case "rejected": {
      const request = await calls.rejected.get(found.id);
      return print.show(request, () => {
        print.line({ text: `${request.source} rejected it: ${request.code}`, tone: "bad" });
        for (const line of [request.message, ...request.diagnosis]) print.line(`  ${line}`);
      });
    }
    case "endpoint":
    case "source": {
      const { needs, endpoints, sources } = await calls.status();
      const standing =
        found.kind === "endpoint"
          ? endpoints.find(({ id }) => id === found.id)
          : sources.find(({ name }) => name === found.id);
      const own = needs.filter(({ endpointId, source }) => [endpointId, source].includes(found.id));
      return print.show({ standing: standing ?? null, needs: own }, () => {
        print.line({ text: found.id, tone: "name" }, ` is ${standing?.state ?? "not listed"}.`);
        for (const { text } of own) print.line({ text: `  ${text}`, tone: "warn" });
        if (own.length === 0) print.line({ text: "  Nothing of it needs a person.", tone: "good" });
      });
    }
  }
}

const TONES: Readonly<Record<string, Tone>> = {
  delivered: "good",
  attempt: "warn",
  conflict: "warn",
  dead: "bad",
  cancelled: "bad",
  waiting: "faint",
  next_attempt: "faint",
};

function drawStory(print: Printer, { event, foundBy, steps, deliveries }: Story): void {
  print.line({ text: event.type, tone: "strong" }, ` from ${event.source}, `, {
    text: event.id,
    tone: "name",
  });
  const key = event.key === null ? "without a key" : `key ${event.key}`;
  print.line({
    text: `${key}, ${size(event.bodyBytes)}, found by ${foundBy.replace("_", " ")}`,
    tone: "faint",
  });
  print.line();
  for (const { at, afterMs, text, kind, future } of steps) {
    const when = future ? "still to come" : (at ?? "").slice(11, 23);
    const gap = afterMs === null || afterMs === 0 ? "" : `+${duration(afterMs)}`;
    print.line(
      { text: `${when.padEnd(13)} ${gap.padStart(12)}  `, tone: "faint" },
      {
        text,
        tone: TONES[kind] ?? "plain",
      },
    );
  }
  print.line();
  for (const { endpointId, sentence } of deliveries) print.line(`${endpointId}: ${sentence}`);
}

function drawLane(print: Printer, { lane, sentence, first, between, last }: LaneWaiting): void {
  print.line(
    { text: `${lane.endpointId} · ${lane.key}`, tone: "strong" },
    `, lane ${lane.id}, ${lane.state}`,
  );
  print.line(sentence);
  print.line();
  for (const each of first) print.line(`  #${each.sequence}  ${each.eventId}  ${each.type}  ${each.state}`);
  if (between !== "0") print.line({ text: `  … ${between} more …`, tone: "faint" });
  for (const each of last) print.line(`  #${each.sequence}  ${each.eventId}  ${each.type}  ${each.state}`);
  for (const line of explainLane(lane).todo) print.line({ text: line, tone: "strong" });
}
