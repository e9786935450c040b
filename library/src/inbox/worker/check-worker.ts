import { PosthornError } from "../../posthorn-error.js";
import { checkNames } from "../check-names.js";
import { BATCH, isBatch, wrongBatch } from "../handler/batch.js";
import { isPattern, noPattern } from "../handler/handlers.js";
import { isLong, LONG, wrongLong } from "../handler/long.js";
import type { InboxErrorCode } from "../inbox-errors.js";

type Named = Readonly<Record<string, unknown>>;

// What a worker with `handlers` has by itself, and one with `consumers` has of each of them.
const OF_CONSUMERS = ["sources", "order", "retry", "errors", "dead"];
const HANDLERS = 'functions by event type: { "invoice.paid": async (event, { tx }) => { … } }';

/** What a compiler refuses, for hosts that have none; and what none can refuse: an option that would count for nobody. */
export function checkConsumers(
  options: object,
  known: { readonly worker: object; readonly consumer: object },
): void {
  const { handlers, consumers } = options as Named;
  checkNames("the worker", options, known.worker);
  if (handlers !== undefined && consumers !== undefined)
    throw invalid("a worker has either `handlers` or `consumers`, and not both");
  if (handlers === undefined && consumers === undefined)
    throw invalid("a worker needs `handlers` or `consumers`; it was given neither");
  if (consumers === undefined) return;
  if (!isTable(consumers))
    throw invalid(
      `consumers is ${kindOf(consumers)}; expected one or more by name: { billing: { handlers } }`,
    );
  if (Object.keys(consumers).length === 0) throw invalid("consumers names nobody; expected one or more");
  const lost = OF_CONSUMERS.find((name) => (options as Named)[name] !== undefined);
  if (lost !== undefined)
    throw invalid(
      `\`${lost}\` belongs to each of \`consumers\`, and counts for none of them here: ` +
        `{ billing: { handlers, ${lost} } }`,
    );
  for (const [name, consumer] of Object.entries(consumers)) {
    const at = `the consumer ${JSON.stringify(name)}`;
    if (!isTable(consumer)) throw invalid(`${at} is ${kindOf(consumer)}; expected { handlers }`);
    if (!isTable(consumer["handlers"]))
      throw invalid(`${at}: handlers is ${kindOf(consumer["handlers"])}; expected ${HANDLERS}`);
    checkNames(at, consumer, known.consumer);
  }
}

/** What is wrong with a consumer; undefined where nothing is. */
export function wrongConsumer({ handlers, sources, order, dead }: Named): string | undefined {
  if (!isTable(handlers)) return `handlers is ${kindOf(handlers)}; expected ${HANDLERS}`;
  if (Object.keys(handlers).length === 0) return `handlers names no type; expected ${HANDLERS}`;
  const isListed = Array.isArray(sources) && sources.length > 0;
  if (!isListed || !sources.every((each) => typeof each === "string" && each !== ""))
    return `sources is ${JSON.stringify(sources)}; expected a list of names or patterns, or none: ["stripe"]`;
  const isWord = order === "key" || order === "none";
  if (!isWord && (typeof order !== "object" || order === null))
    return `order is ${JSON.stringify(order)}; expected "key", "none" or { policy: "drop_stale", … }`;
  if (dead !== undefined && !["halt", "skip", "park"].includes(dead as string))
    return `dead is ${JSON.stringify(dead)}; expected "halt", "skip" or "park"`;
  for (const [key, handler] of Object.entries(handlers)) {
    const found = wrongHandler(key, handler);
    if (found !== undefined) return `the handler of ${JSON.stringify(key)}: ${found}`;
    if (isPattern(key)) return noPattern(key);
  }
  return undefined;
}

function wrongHandler(key: string, handler: unknown): string | undefined {
  if (isBatch(handler) && isLong(handler)) return "it is a batch or a long handler, and not both";
  if (isBatch(handler)) checkNames(`the batch of ${JSON.stringify(key)}`, handler, BATCH);
  if (isLong(handler)) checkNames(`the long handler of ${JSON.stringify(key)}`, handler, LONG);
  if (isBatch(handler)) return wrongBatch(handler);
  if (isLong(handler)) return wrongLong(handler);
  if (typeof handler === "function") return undefined;
  return `it is ${kindOf(handler)}; expected a function; its import may be misspelt`;
}

// Of `WorkerDrainLimits`.
const DRAIN = { deadlineMs: true };

/** A limit that is no number, or that is misspelt, would let a drain run until its host is ended from outside. */
export function checkDrain(limits: unknown): void {
  checkNames("a drain", limits, DRAIN);
  const { deadlineMs } = Object(limits) as Named;
  const isTime = typeof deadlineMs === "number" && Number.isFinite(deadlineMs) && deadlineMs >= 0;
  if (typeof limits === "object" && limits !== null && (deadlineMs === undefined || isTime)) return;
  const shown = typeof deadlineMs === "number" ? deadlineMs : JSON.stringify(deadlineMs);
  const found = deadlineMs === undefined ? `it is ${kindOf(limits)}` : `deadlineMs is ${shown}`;
  throw new PosthornError<InboxErrorCode>(
    "inbox_option_invalid",
    `The drain cannot be limited so: ${found}; expected { deadlineMs: 20_000 }, in milliseconds, or nothing.`,
  );
}

function isTable(value: unknown): value is Named {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `of type ${typeof value}`;
}

export function invalid(found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", `The worker cannot be made: ${found}.`);
}
