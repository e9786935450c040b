import type { Command } from "commander";
import type { TailGap, TailKind, TailMessage, TailQuery } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { duration } from "../../terminal/for-people.js";
import type { Piece } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, gather } from "../define-command.js";

interface TailCommandOptions {
  readonly kind?: readonly TailKind[];
  readonly source?: string;
  readonly endpoint?: string;
  readonly type?: string;
}

export function registerTail(program: Command, context: CommandContext): void {
  defineCommand<TailCommandOptions>(program, context, {
    form: "tail",
    says: "Follow what happens on the node that answers, until Ctrl-C; with --json one line each.",
    examples: [
      "posthorn tail",
      "posthorn tail --kind dead --kind rejected",
      "posthorn tail --endpoint ep_shop",
    ],
    flags: [
      {
        form: "--kind <kind>",
        says: "stored, duplicate, conflict, rejected, published, attempted, dead or endpoint_disabled; may be repeated.",
        parse: gather,
      },
      { form: "--source <name>", says: "Of this source." },
      { form: "--endpoint <id>", says: "At this endpoint." },
      { form: "--type <type>", says: "Of events of this type." },
    ],
    run: async ({ options, client, print, context: { interrupted, terminal } }) => {
      const { kind, source, endpoint, type } = options;
      const query: TailQuery = { kind, source, endpoint, type };
      // A mistyped name would be waited for in vain.
      if (endpoint !== undefined) await client().endpoints.get(endpoint);
      const signal = AbortSignal.any([interrupted(), terminal.outputEnded]);
      const onConnection = (open: boolean): void => {
        if (!open && !signal.aborted)
          print.hint({ text: "The connection was lost; trying again.", tone: "warn" });
      };
      for await (const message of client().tail(query, { signal, onConnection })) {
        if (print.json) print.record(message);
        else print.line(...tailLine(message));
      }
    },
  });
}

const TONES: Readonly<Record<TailKind, Tone>> = {
  stored: "plain",
  duplicate: "faint",
  conflict: "warn",
  rejected: "warn",
  published: "plain",
  attempted: "plain",
  dead: "bad",
  endpoint_disabled: "bad",
};

/** One message as a line. Pure. */
export function tailLine(message: TailMessage | TailGap): readonly Piece[] {
  if (message.kind === "gap") {
    const some = message.lost === null ? "Some messages were" : `${message.lost} messages were`;
    return [{ text: `${some} missed in between.`, tone: "warn" }];
  }
  const { at, kind, outcome, eventId, type } = message;
  const landed = kind === "attempted" && outcome === "acknowledged";
  const failed = kind === "attempted" && !landed;
  return [
    { text: `${at.slice(11, 23)}  `, tone: "faint" },
    { text: (landed ? "landed" : failed ? "failed" : kind).padEnd(10), tone: toneOf(kind, landed, failed) },
    ` ${type ?? "–"}  `,
    { text: eventId ?? "–", tone: "name" },
    `  ${detailOf(message)}`,
  ];
}

function toneOf(kind: TailKind, landed: boolean, failed: boolean): Tone {
  if (landed) return "good";
  return failed ? "warn" : (TONES[kind] ?? "plain");
}

function detailOf({
  kind,
  source,
  endpointId,
  attempt,
  status,
  error,
  durationMs,
  because,
  code,
}: TailMessage): string {
  switch (kind) {
    case "attempted":
      return `${endpointId ?? ""}, attempt ${attempt ?? 1}: ${status ?? error ?? "no answer"} in ${duration(durationMs ?? 0)}`;
    case "dead":
    case "endpoint_disabled":
      return `${endpointId ?? ""}: ${because ?? ""}`;
    case "rejected":
      return `${source ?? ""}: ${code ?? "rejected"}`;
    case "stored":
    case "duplicate":
    case "conflict":
    case "published":
      return source ?? "";
  }
}
