import type { Operation, OperationPlan } from "posthorn/client";
import { count, relative } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";

/** Prints a plan: what it will do, to what, and what to know before. */
export function drawPlan(print: Printer, plan: OperationPlan, nowMs: number): void {
  print.line({ text: plan.words, tone: "strong" });
  for (const { text, code } of plan.warnings)
    print.line("  ", { text, tone: code === "lanes_go_on" ? "plain" : "warn" });
  if (plan.count === 1) return drawOnly(print, plan, nowMs);
  for (const [name, letter] of [
    ["oldest", plan.oldest],
    ["newest", plan.newest],
  ] as const) {
    if (letter !== null)
      print.line(
        `  ${name}  `,
        { text: letter.id, tone: "name" },
        `  ${letter.type}, died ${relative(letter.diedAt, nowMs)}`,
      );
  }
  for (const next of plan.next.slice(0, 5))
    print.line(`  next    `, { text: next.deliveryId, tone: "name" }, `  to ${placeOf(next)}`);
}

/** A plan for one delivery: it would else be named three times, as the oldest, the newest and the next. */
function drawOnly(print: Printer, { oldest, next: [next] }: OperationPlan, nowMs: number): void {
  const id = oldest?.id ?? next?.deliveryId;
  if (id === undefined) return;
  const words = [
    ...(oldest === null ? [] : [`${oldest.type}, died ${relative(oldest.diedAt, nowMs)}`]),
    ...(next === undefined ? [] : [`to ${placeOf(next)}`]),
  ];
  print.line("  ", { text: id, tone: "name" }, `  ${words.join(", ")}`);
}

function placeOf({ endpointId, key, place, waiting }: OperationPlan["next"][number]): string {
  const where = {
    head: "at the head of its lane",
    end: "at the end of its lane",
    behind_gap: "behind the gap",
  };
  const behind = waiting === 0 ? "" : `, ${count(waiting, "event")} behind it`;
  return `${endpointId}${key === null ? "" : ` · ${key}`}, ${where[place]}${behind}`;
}

/** What came of an operation, in words. Pure. */
export function resultWords({ verb, results, done, plan, state }: Operation): string {
  const done_ = { redrive: "Redriven", skip: "Skipped", cancel: "Cancelled", replay: "Replayed" }[verb];
  const good = ["in_place", "at_end", "skipped", "cancelled", "staged"].reduce(
    (sum, key) => sum + (results[key] ?? 0),
    0,
  );
  const before = results["before"] ?? 0;
  const unknown = ["unknown", "intended", "not_applied", "not_stored", "no_worker"].reduce(
    (sum, key) => sum + (results[key] ?? 0),
    0,
  );
  const parts = [
    `${done_}: ${count(good, "delivery", "deliveries")}`,
    ...(before === 0 ? [] : [`${before} had been redriven before`]),
    ...(unknown === 0 ? [] : [`${unknown} had changed in the meantime`]),
    ...(state === "stopped" ? [`stopped after ${done} of ${plan.count}`] : []),
  ];
  return `${parts.join("; ")}.`;
}
