import type { Command } from "commander";
import type { Attempt, Client, Delivery } from "posthorn/client";
import { duration, relative } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";
import { deliveryTable, NO_DELIVERIES, stateTone } from "./delivery-table.js";
import { explainDelivery } from "./explain-delivery.js";
import type { Explanation, Surroundings } from "./explain-delivery.js";
import { TENANT_FLAG } from "../listing.js";
import { CommandFailure, orLook } from "../../terminal/failure.js";

interface DeliveryListOptions {
  readonly event?: string;
  readonly tenant?: string;
}

export function registerDeliveries(program: Command, context: CommandContext): void {
  const deliveries = defineGroup(program, "deliveries", "Look at what became of events at endpoints.");
  defineCommand<DeliveryListOptions>(deliveries, context, {
    form: "list",
    says: "List the deliveries of an event.",
    examples: ["posthorn deliveries list --event evt_2ZbGqk"],
    flags: [{ form: "--event <id>", says: "Of this event." }, TENANT_FLAG],
    run: async ({ options: { event, tenant }, client, print }) => {
      if (event === undefined) {
        throw new CommandFailure("usage", "An event has to be named with --event.", {
          cure: "`posthorn events list` shows them; `posthorn lanes list` what is blocked, `posthorn dead list` what was given up.",
        });
      }
      const page = await client().deliveries.list({ event, tenant });
      print.show(page, () => {
        if (page.items.length > 0) print.table(deliveryTable(page.items));
        else print.line(NO_DELIVERIES);
      });
    },
  });
  defineCommand<object>(deliveries, context, {
    form: "show <id>",
    says: "Show a delivery with its attempts, what their outcome means and what to do.",
    examples: ["posthorn deliveries show dlv_12_7"],
    run: async ({ args: [id = ""], client, print, context: { clock } }) => {
      const calls = client().deliveries;
      const [delivery, attempts] = await orLook(
        Promise.all([calls.get(id), calls.attempts(id)]),
        "`posthorn events show ID` names the deliveries of an event, `posthorn dead list` those that were given up.",
      );
      const explanation = explainDelivery(delivery, await surroundingsOf(client(), delivery));
      print.show({ ...delivery, attemptList: attempts.items, explanation }, () =>
        drawDelivery(print, { delivery, explanation, attempts: attempts.items }, clock.now()),
      );
    },
  });
}

/** Why a delivery that waits has no time: only then somebody has to be asked. */
async function surroundingsOf(
  client: Client,
  { state, dueInMs, endpointId, laneId }: Delivery,
): Promise<Surroundings> {
  if ((state !== "waiting" && state !== "retrying") || dueInMs !== null) return {};
  // Either may be gone by now.
  const [endpoint, lane] = await Promise.all([
    client.endpoints.get(endpointId).catch(() => undefined),
    laneId === null ? undefined : client.lanes.get(laneId).catch(() => undefined),
  ]);
  return { endpoint, lane };
}

interface Shown {
  readonly delivery: Delivery;
  readonly explanation: Explanation;
  readonly attempts: readonly Attempt[];
}

function drawDelivery(print: Printer, { delivery, explanation, attempts }: Shown, nowMs: number): void {
  const { says, todo } = explanation;
  print.facts([
    ["delivery", { text: delivery.id, tone: "name" }],
    ["event", `${delivery.eventId} (${delivery.type})`],
    ["endpoint", delivery.endpointId],
    [
      "lane",
      delivery.laneId === null ? "none: in no order" : `${delivery.laneId}, key ${delivery.key ?? "–"}`,
    ],
    ["state", { text: delivery.state, tone: stateTone(delivery.state) }],
    ["round", delivery.round],
  ]);
  print.line();
  print.line(says);
  if (todo !== undefined) print.line({ text: todo, tone: "strong" });
  if (attempts.length === 0) return;
  print.line();
  print.table(attemptTable(attempts, nowMs));
  const answer = lastAnswerText(attempts);
  if (answer === undefined) return;
  print.line();
  print.line({ text: "The last answer began with:", tone: "faint" });
  print.block(answer);
}

function attemptTable(attempts: readonly Attempt[], nowMs: number): Table {
  return {
    columns: [
      { title: "ROUND", align: "right" },
      { title: "ATTEMPT", align: "right" },
      { title: "OUTCOME" },
      { title: "STATUS", align: "right" },
      { title: "ERROR", least: 8 },
      { title: "TOOK", align: "right" },
      { title: "WHEN", least: 8 },
    ],
    rows: attempts.map((attempt) => [
      attempt.round,
      attempt.number,
      { text: attempt.outcome, tone: attempt.outcome === "acknowledged" ? "good" : "bad" },
      attempt.status ?? "–",
      attempt.error ?? "–",
      duration(attempt.durationMs),
      { text: relative(attempt.startedAt, nowMs), tone: "faint" },
    ]),
  };
}

const SHOWN_ANSWER = 1000;

function lastAnswerText(attempts: readonly Attempt[]): string | undefined {
  const answer = attempts.at(-1)?.answer ?? null;
  if (answer === null || answer === "") return undefined;
  const text = Buffer.from(answer, "base64").toString("utf8");
  return text.length > SHOWN_ANSWER ? `${text.slice(0, SHOWN_ANSWER)}…` : text;
}
