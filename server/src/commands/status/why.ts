import type { Command } from "commander";
import type { Client, EndpointStanding, Found, Lane, LaneWaiting, Need, Story } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { CommandFailure } from "../../terminal/failure.js";
import { count, duration, size } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";
import { explainAnswer, explainDelivery } from "../deliveries/explain-delivery.js";
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
    // Not all options: the API would take --json and --url for filters that it does not know.
    run: async ({ args, options: { tenant }, client, print }) => {
      const calls = client();
      const text = args.join(" ");
      const { items } = await calls.search(text, tenant === undefined ? {} : { tenant });
      const found = items[0];
      if (found === undefined) throw nothingNamed(text);
      refuseSeveral(items, found);
      await explain(calls, print, found);
      for (const { kind, id } of othersOf(items, found))
        print.hint({ text: `The same text also names the ${kind} ${id}.`, tone: "faint" });
    },
  });
}

function nothingNamed(text: string): CommandFailure {
  // A key names many events, an empty lane none, and what was rejected is not believed, its id neither.
  const cure = /^\d+$/.test(text)
    ? "`posthorn lanes` shows the lanes in which something waits; an empty lane needs nobody."
    : "Give an event's id, the provider's id, a delivery, a lane, an endpoint, a source, or a rejected request. " +
      "If it was rejected: posthorn rejected. Events of a key: posthorn events --key KEY";
  return new CommandFailure("failed", `Nothing has this id or name: ${text}.`, { code: "not_found", cure });
}

/** Tenants may have events of the same id: the story of one must not be taken for another's. */
function refuseSeveral(items: readonly Found[], { kind, id }: Found): void {
  if (kind !== "event") return;
  const owners = items.filter((each) => each.kind === kind && each.id === id).map(({ tenant }) => tenant);
  if (owners.length < 2) return;
  throw new CommandFailure("failed", `${owners.length} tenants have the event ${id}: ${owners.join(", ")}.`, {
    code: "tenant_unclear",
    cure: "Name it with --tenant.",
  });
}

const MOST_OTHERS = 3;

function othersOf(items: readonly Found[], found: Found): readonly Found[] {
  return items
    .filter(({ kind, id }) => kind !== found.kind || id !== found.id)
    .filter(({ kind }) => kind !== "event" || found.kind !== "delivery") // Its own, whose story was told.
    .slice(0, MOST_OTHERS);
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
        if (request.retryable === true)
          todo(print, `When its source is mended, take it in with: posthorn rejected retry ${request.id}`);
      });
    }
    case "endpoint":
      return explainEndpoint(calls, print, found.id);
    case "source":
      return explainSource(calls, print, found.id);
  }
}

function todo(print: Printer, text: string): void {
  print.line({ text, tone: "strong" });
}

async function explainEndpoint(calls: Client, print: Printer, id: string): Promise<void> {
  const [{ needs, endpoints }, { items: lanes }] = await Promise.all([
    calls.status(),
    calls.lanes.list({ endpoint: id, limit: 1 }),
  ]);
  const standing = endpoints.find((endpoint) => endpoint.id === id);
  const own = needs.filter(({ endpointId }) => endpointId === id);
  // Blocked lanes come first: the head of the longest blocked one knows what the endpoint answers.
  const [worst] = lanes;
  const head =
    worst === undefined ? undefined : await calls.deliveries.get(worst.headId).catch(() => undefined);
  const says = head === undefined || head.attempts === 0 ? undefined : explainAnswer(head);
  print.show({ standing: standing ?? null, needs: own, head: head ?? null }, () => {
    drawStanding(print, id, { state: standing?.state, needs: own });
    if (says !== undefined)
      print.line(`  The longest blocked has failed ${count(head?.attempts ?? 0, "time")}: ${says}`);
    for (const line of endpointTodo(id, { standing, lane: worst })) todo(print, line);
  });
}

/** What a person can do for an endpoint, as lines to paste. Pure. */
function endpointTodo(
  id: string,
  { standing, lane }: { readonly standing: EndpointStanding | undefined; readonly lane: Lane | undefined },
): readonly string[] {
  const state = standing?.configured ?? "active";
  const test = `Ask it: posthorn endpoint test ${id}`;
  if (state !== "active") return [test, `Go on: posthorn endpoint resume ${id}`];
  if (lane === undefined || lane.state === "flowing") return [];
  const all = `All that waits: posthorn lanes list --endpoint ${id}`;
  return lane.state === "retrying"
    ? [test, all, `When it is back, try all now: posthorn retry --endpoint ${id}`]
    : [`See the longest blocked: posthorn why ${lane.id}`, all, test];
}

async function explainSource(calls: Client, print: Printer, name: string): Promise<void> {
  const { needs, sources } = await calls.status();
  const standing = sources.find((source) => source.name === name);
  const own = needs.filter(({ source }) => source === name);
  print.show({ standing: standing ?? null, needs: own }, () => {
    drawStanding(print, name, { state: standing?.state, needs: own });
    if (standing?.state !== "rejecting") return;
    todo(print, `See why: posthorn rejected list --source ${name}`);
    todo(print, `When its secrets are right, take them in: posthorn rejected retry --source ${name}`);
  });
}

function drawStanding(
  print: Printer,
  name: string,
  { state = "not listed", needs }: { readonly state: string | undefined; readonly needs: readonly Need[] },
): void {
  print.line({ text: name, tone: "name" }, ` is ${state}.`);
  for (const { text } of needs) print.line({ text: `  ${text}`, tone: "warn" });
  if (needs.length === 0) print.line({ text: "  Nothing of it needs a person.", tone: "good" });
}

const TONES: Readonly<Record<string, Tone>> = {
  delivered: "good",
  attempt: "warn",
  held: "warn",
  decided: "warn",
  conflict: "warn",
  dead: "bad",
  cancelled: "bad",
  waiting: "faint",
  next_attempt: "faint",
};

function drawStory(print: Printer, story: Story): void {
  const { event, foundBy, steps, deliveries } = story;
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
  // A server of another version may not say it.
  const { held = null } = story as Partial<Story>;
  if (held !== null && held.heldSince !== null) {
    print.line(held.sentence);
    todo(print, `  Go on without what is missing: posthorn inbox release ${event.id}`);
  }
  for (const delivery of deliveries) {
    print.line(`${delivery.endpointId}: ${delivery.sentence}`);
    const line = explainDelivery(delivery).todo;
    if (line !== undefined) todo(print, `  ${line}`);
  }
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
