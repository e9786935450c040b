import { InvalidArgumentError } from "commander";
import type { EndpointUpdate } from "posthorn/client";
import { duration } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { gather, wholeNumber } from "../define-command.js";
import type { Flag } from "../define-command.js";
import { SECRET_FLAGS, secretsOf } from "../requests/secret-input.js";
import type { SecretOptions } from "../requests/secret-input.js";

/** What can be said of an endpoint, by flags. */
export interface EndpointOptions extends SecretOptions {
  readonly sources?: readonly string[];
  readonly types?: readonly string[];
  readonly order?: "key" | "endpoint" | "none";
  readonly dead?: "halt" | "skip" | "park" | "default";
  readonly maxInFlight?: number;
  readonly retry?: Readonly<Record<string, unknown>>;
}

export const ENDPOINT_FLAGS: readonly Flag[] = [
  { form: "--types <pattern>", says: "Events of such types, as invoice.*; several times.", parse: gather },
  { form: "--sources <pattern>", says: "Events of such sources; several times.", parse: gather },
  { form: "--order <what>", says: "What is in order.", choices: ["key", "endpoint", "none"] },
  {
    form: "--dead <policy>",
    says: "What a delivery that is given up does to its lane.",
    choices: ["halt", "skip", "park", "default"],
  },
  { form: "--max-in-flight <n>", says: "Attempts under way at once.", parse: wholeNumber(1, 10_000) },
  {
    form: "--retry <json>",
    says: `When a failed attempt is made again, as '{"firstMs":1000,"factor":4,"maxAttempts":15}'.`,
    parse: parseRetry,
  },
  ...SECRET_FLAGS,
];

/** The fields of an endpoint that flags have named, and no others. */
export async function endpointFields(
  options: EndpointOptions,
  context: CommandContext,
): Promise<Omit<EndpointUpdate, "url">> {
  const secrets = await secretsOf(options, context);
  const { sources, types, order, dead, maxInFlight, retry } = options;
  return {
    ...(secrets.length > 0 && { secrets }),
    ...(sources !== undefined && { sources }),
    ...(types !== undefined && { types }),
    ...(order !== undefined && { order }),
    ...(dead !== undefined && { dead: dead === "default" ? null : dead }),
    ...(maxInFlight !== undefined && { maxInFlight }),
    ...(retry !== undefined && { retry }),
  };
}

function parseRetry(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Reported below, with what was expected.
  }
  throw new InvalidArgumentError(`Expected JSON such as '{"maxAttempts":5}' or '{"waitsMs":[1000,60000]}'.`);
}

/** A retry policy in a few words. */
export function retryText(retry: Readonly<Record<string, unknown>>): string {
  const { waitsMs, firstMs, factor, capMs, maxAttempts } = retry;
  if (Array.isArray(waitsMs)) {
    return waitsMs.length === 0 ? "none" : `after ${waitsMs.map((ms) => duration(Number(ms))).join(", ")}`;
  }
  if (typeof firstMs !== "number" || typeof capMs !== "number") return JSON.stringify(retry);
  return `${duration(firstMs)} × ${String(factor)}ⁿ up to ${duration(capMs)}, ${String(maxAttempts)} attempts`;
}
