import type { Command } from "commander";
import type { EndpointStanding, Need, NodeStanding, SourceStanding, Status } from "posthorn/client";
import type { Tone } from "../../terminal/colour.js";
import { CommandFailure } from "../../terminal/failure.js";
import { duration, relative } from "../../terminal/for-people.js";
import type { Printer } from "../../terminal/printer.js";
import type { Table } from "../../terminal/table.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";
import { consumerTable } from "../inbox/consumers.js";

interface StatusOptions {
  readonly check?: boolean;
}

const LEVELS: Readonly<Record<Need["level"], Tone>> = { bad: "bad", warn: "warn", note: "faint" };

export function registerStatus(program: Command, context: CommandContext): void {
  defineCommand<StatusOptions>(program, context, {
    form: "status",
    says: "Say what is wrong, in one sentence, then nodes, endpoints and sources with how they stand.",
    examples: ["posthorn status", "posthorn status --check || page-somebody"],
    flags: [{ form: "--check", says: "End with 1 where something needs a person, for scripts." }],
    run: async ({ options, client, print, context: { clock } }) => {
      const status = await client().status();
      print.show(status, () => drawStatus(print, status, clock.now()));
      if (options.check === true && !status.ok)
        throw new CommandFailure("failed", status.sentence, { code: "needs_a_person" });
    },
  });
}

function drawStatus(print: Printer, status: Status, nowMs: number): void {
  const { sentence, ok, needs, nodes, endpoints, sources, version } = status;
  // A server of another version may not say it.
  const { consumers = [] } = status as Partial<Status>;
  print.line({ text: sentence, tone: ok ? "good" : "bad" });
  for (const { text, level } of needs) print.line("  ", { text, tone: LEVELS[level] ?? "plain" });
  if (endpoints.length > 0) {
    print.line();
    print.table(endpointTable(endpoints));
  }
  if (sources.length > 0) {
    print.line();
    print.table(sourceTable(sources, nowMs));
  }
  if (consumers.length > 0) {
    print.line();
    print.table(consumerTable(consumers, nowMs));
  }
  print.line();
  const names = nodes.map(nodeWords);
  print.line({ text: `nodes: ${names.join(", ")}; version ${version}`, tone: "faint" });
  const [first] = needs;
  if (first !== undefined) print.hint({ text: `See why: ${whyLine(first)}`, tone: "faint" });
}

// A node says that it runs every ten seconds.
const LATE_MS = 25_000;

/** A node that has died is listed for a minute: it must not look alive meanwhile. */
function nodeWords({ name, roles, seenMs }: NodeStanding): string {
  const late = seenMs < LATE_MS ? "" : `; not seen for ${duration(seenMs)}`;
  return `${name} (${roles.join(", ")}${late})`;
}

/** The command that looks closer at what needs a person. */
function whyLine({ laneId, endpointId, source, kind }: Need): string {
  if (kind === "store_refusing" || kind === "no_dispatcher")
    return "posthorn doctor (on the server's machine)";
  if (kind === "dead_letters") return "posthorn dead groups";
  if (kind === "key_held") return "posthorn inbox held";
  if (kind === "no_worker" || kind === "consumer_paused") return "posthorn consumers list";
  if (kind === "source_rejecting") return `posthorn rejected list --source ${source ?? ""}`;
  return `posthorn why ${laneId ?? endpointId ?? source ?? ""}`;
}

const TONES: Readonly<Record<string, Tone>> = {
  active: "good",
  failing: "warn",
  halted: "bad",
  parked: "bad",
  rejecting: "warn",
  silent: "warn",
  paused: "faint",
  disabled: "bad",
};

function endpointTable(endpoints: readonly EndpointStanding[]): Table {
  return {
    columns: [
      { title: "ENDPOINT", least: 10 },
      { title: "STATE" },
      { title: "10 MIN", align: "right" },
      { title: "FAILED", align: "right" },
      { title: "P99", align: "right" },
      { title: "WAITING", align: "right" },
      { title: "OLDEST", align: "right" },
    ],
    rows: endpoints.map(({ id, state, recent, waiting, exact, oldestMs }) => [
      { text: id, tone: "name" },
      { text: state, tone: TONES[state] ?? "plain" },
      recent.attempts,
      recent.failed,
      recent.p99Ms === null ? "–" : duration(recent.p99Ms),
      exact ? waiting : `${waiting}+`,
      oldestMs === null ? "–" : duration(oldestMs),
    ]),
  };
}

/** It is known to the minute: seconds would be wrong. */
function lastMinute(lastAt: string | null, nowMs: number): string {
  const isNow = lastAt !== null && nowMs - Date.parse(lastAt) < 60_000;
  return isNow ? "this minute" : relative(lastAt, nowMs);
}

function sourceTable(sources: readonly SourceStanding[], nowMs: number): Table {
  return {
    columns: [
      { title: "SOURCE", least: 10 },
      { title: "STATE" },
      { title: "10 MIN", align: "right" },
      { title: "DUPLICATES", align: "right" },
      { title: "REJECTED", align: "right" },
      { title: "LAST", least: 8 },
    ],
    rows: sources.map(({ name, state, recent, lastAt }) => [
      { text: name, tone: "name" },
      { text: state, tone: TONES[state] ?? "plain" },
      recent.in,
      recent.duplicate,
      recent.rejected,
      { text: lastMinute(lastAt, nowMs), tone: "faint" },
    ]),
  };
}
