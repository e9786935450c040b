import { InvalidArgumentError } from "commander";
import type { DedupRule, Place, SourceUpdate } from "posthorn/client";
import { CommandFailure } from "../../terminal/failure.js";
import type { CommandContext } from "../command-context.js";
import { gather, wholeNumber } from "../define-command.js";
import type { Flag } from "../define-command.js";
import { SECRET_FLAGS, secretsOf } from "../requests/secret-input.js";
import type { SecretOptions } from "../requests/secret-input.js";

/** What can be said of a source, by flags. */
export interface SourceOptions extends SecretOptions {
  readonly tenant?: string;
  readonly dedup?: "id" | "content" | "both";
  readonly content?: "raw" | "json";
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly window?: number;
  readonly orderBy?: Place | null;
  readonly forwardHeader?: readonly string[];
  readonly option?: Readonly<Record<string, unknown>>;
  readonly allowUnverified?: boolean;
}

export const SOURCE_FLAGS: readonly Flag[] = [
  ...SECRET_FLAGS,
  { form: "--tenant <name>", says: "Whose events they are." },
  { form: "--dedup <by>", says: "By what a duplicate is known.", choices: ["id", "content", "both"] },
  {
    form: "--content <form>",
    says: "What of the content counts: its bytes, or its JSON.",
    choices: ["raw", "json"],
  },
  {
    form: "--include <pointer>",
    says: "Only this part of the JSON counts, as /data/id; several times.",
    parse: gather,
  },
  {
    form: "--exclude <pointer>",
    says: "This part of the JSON does not count; several times.",
    parse: gather,
  },
  { form: "--window <seconds>", says: "How long a duplicate is known.", parse: wholeNumber(1, 315_360_000) },
  {
    form: "--order-by <place>",
    says: "Where the key stands that keeps events in order: header:NAME, json:/POINTER or nothing.",
    parse: readPlace,
  },
  {
    form: "--forward-header <pattern>",
    says: "Send such headers on, as x-shop-*; several times.",
    parse: gather,
  },
  {
    form: "--option <name=value>",
    says: "What the scheme needs besides, as publicUrl=https://…",
    parse: parseOption,
  },
];

/** The fields of a source that flags have named, and no others. */
export async function sourceFields(options: SourceOptions, context: CommandContext): Promise<SourceUpdate> {
  const secrets = await secretsOf(options, context);
  const dedup = dedupOf(options);
  return {
    ...(secrets.length > 0 && { secrets }),
    ...(options.tenant !== undefined && { tenant: options.tenant }),
    ...(dedup !== undefined && { dedup }),
    ...(options.window !== undefined && { windowS: options.window }),
    ...(options.orderBy !== undefined && { key: options.orderBy }),
    ...(options.forwardHeader !== undefined && { forwardHeaders: options.forwardHeader }),
    ...(options.option !== undefined && { options: options.option }),
    ...(options.allowUnverified === true && { allowUnverified: true }),
  };
}

function dedupOf({ dedup, content, include, exclude }: SourceOptions): DedupRule | undefined {
  const parts = content !== undefined || include !== undefined || exclude !== undefined;
  if (dedup === undefined && !parts) return undefined;
  if (dedup === "id" || dedup === undefined) {
    if (!parts) return { by: "id" };
    throw new CommandFailure("usage", "--content, --include and --exclude say what of the content counts.", {
      cure: "They go with --dedup content or --dedup both.",
    });
  }
  return {
    by: dedup,
    content: content ?? (include === undefined && exclude === undefined ? "raw" : "json"),
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
  };
}

/** A rule for duplicates in a few words. */
export function dedupText(rule: DedupRule): string {
  if (rule.by === "id") return "id";
  const content = rule.content === "raw" ? "bytes" : "JSON";
  return rule.by === "both" ? `id or ${content}` : content;
}

export function placeText(place: Place | null): string {
  if (place === null) return "nothing";
  return "header" in place ? `header:${place.header}` : `json:${place.json}`;
}

function readPlace(text: string): Place | null {
  if (text === "nothing") return null;
  const [, kind, where = ""] = /^(header|json):(.+)$/.exec(text) ?? [];
  if (kind === "header") return { header: where.toLowerCase() };
  if (kind === "json" && where.startsWith("/")) return { json: where };
  throw new InvalidArgumentError("Expected header:NAME, json:/POINTER or nothing.");
}

export function parseOption(
  text: string,
  before: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Expected name=value.");
  return { ...before, [text.slice(0, at)]: optionValue(text.slice(at + 1)) };
}

// As the option `content` of the scheme hmac has them: `{timestamp}.{body}` begins like an object of JSON.
const TEMPLATE = /\{(?:body|timestamp|id|url)\}/;

/** Numbers, truth values, objects and texts in quotes as JSON; anything else is a text, templates among them. */
function optionValue(text: string): unknown {
  if (!/^(true|false|-?\d+(\.\d+)?|[{[].*|".*")$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (TEMPLATE.test(text)) return text;
    throw new InvalidArgumentError(`${text.slice(0, 40)} is no JSON.`);
  }
}
