import type { Command } from "commander";
import type { Lane } from "posthorn/client";
import { isHandlerId } from "posthorn/gateway";
import type { Tone } from "../../terminal/colour.js";
import { orLook } from "../../terminal/failure.js";
import { count, due, duration } from "../../terminal/for-people.js";
import type { Table } from "../../terminal/table.js";
import { resumeLine } from "../deliveries/explain-delivery.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, defineGroup } from "../define-command.js";
import { collect, hintMore, LIST_FLAGS } from "../listing.js";
import type { ListOptions } from "../listing.js";

interface LaneListOptions extends ListOptions {
  readonly endpoint?: string;
}

const TONES: Readonly<Record<Lane["state"], Tone>> = {
  flowing: "good",
  retrying: "warn",
  halted: "bad",
  parked: "bad",
  paused: "faint",
  disabled: "faint",
};

export function registerLanes(program: Command, context: CommandContext): void {
  const lanes = defineGroup(program, "lanes", "Look at lanes: one endpoint and one key, in order.");
  defineCommand<LaneListOptions>(lanes, context, {
    form: "list",
    says: "List lanes in which something waits, blocked ones first.",
    examples: ["posthorn lanes list", "posthorn lanes list --endpoint ep_shop"],
    flags: [{ form: "--endpoint <id>", says: "Of this endpoint." }, ...LIST_FLAGS],
    run: async ({ options, client, print }) => {
      const { endpoint } = options;
      const calls = client().lanes;
      const page = await collect((asked) => calls.list({ ...asked, endpoint }), options);
      print.show(page, () => {
        if (page.items.length === 0) print.line({ text: "Nothing waits in any lane.", tone: "good" });
        else print.table(laneTable(page.items));
      });
      hintMore(print, page, "posthorn lanes list");
    },
  });
  defineCommand<object>(lanes, context, {
    form: "show <id>",
    says: "Show a lane, why it does not move and what to do.",
    examples: ["posthorn lanes show 12"],
    run: async ({ args: [id = ""], client, print }) => {
      const lane = await orLook(
        client().lanes.get(id),
        "`posthorn lanes list` shows those in which something waits; an empty lane needs nobody.",
      );
      const { says, todo } = explainLane(lane);
      print.show({ ...lane, explanation: { says, todo } }, () => {
        print.facts([
          ["lane", { text: lane.id, tone: "name" }],
          ["endpoint", lane.endpointId],
          ["key", lane.key],
          ["state", { text: lane.state, tone: laneTone(lane.state) }],
          ["waiting", `${lane.depth}, from sequence ${lane.head}`],
          ["failures", lane.failures],
          ["blocked", lane.blockedMs === null ? "no" : `for ${duration(lane.blockedMs)}`],
          ["next attempt", due(lane.dueInMs)],
        ]);
        print.line();
        print.line(says);
        for (const line of todo) print.line({ text: line, tone: "strong" });
      });
    },
  });
}

/** The tone of a state; plain where a newer server knows one that we do not. */
function laneTone(state: string): Tone {
  return Object.hasOwn(TONES, state) ? TONES[state as Lane["state"]] : "plain";
}

export function laneTable(lanes: readonly Lane[]): Table {
  // Only where it tells something: most installations have one.
  const byTenant = lanes.some(({ tenant }) => tenant !== "default");
  return {
    columns: [
      { title: "LANE" },
      ...(byTenant ? [{ title: "TENANT", least: 6 }] : []),
      { title: "ENDPOINT", least: 10 },
      { title: "KEY", least: 8 },
      { title: "STATE" },
      { title: "WAITING", align: "right" },
      { title: "FAILURES", align: "right" },
      { title: "BLOCKED", least: 6 },
      { title: "NEXT", least: 5 },
    ],
    rows: lanes.map((lane) => [
      { text: lane.id, tone: "name" },
      ...(byTenant ? [lane.tenant] : []),
      lane.endpointId,
      lane.key === "" ? "–" : lane.key,
      { text: lane.state, tone: laneTone(lane.state) },
      lane.depth,
      lane.failures,
      lane.blockedMs === null ? "–" : duration(lane.blockedMs),
      due(lane.dueInMs),
    ]),
  };
}

/** What a lane waits for, and what a person can do about it. Pure. */
export function explainLane(lane: Lane): { readonly says: string; readonly todo: readonly string[] } {
  const head = lane.headId;
  const waiting = count(BigInt(lane.depth), "delivery", "deliveries");
  switch (lane.state) {
    case "flowing":
      return { says: `It moves; ${waiting} in it.`, todo: [] };
    case "retrying":
      return {
        says: `Its head has failed ${count(lane.failures, "time")} and is tried again ${due(lane.dueInMs)}; the others keep their order behind it.`,
        todo: [`See why: posthorn deliveries show ${head}`, `Try it now: posthorn retry ${lane.id}`],
      };
    case "halted":
    case "parked":
      return {
        says: `Its head was given up. The lane stands, with ${waiting} in it, so that nothing overtakes it.`,
        todo: [
          `See why: posthorn deliveries show ${head}`,
          `Send it again: posthorn redrive ${head}`,
          `Or go on without it: posthorn skip ${lane.id}`,
        ],
      };
    case "paused":
    case "disabled":
      return {
        says: `Its ${isHandlerId(lane.endpointId) ? "handler" : "endpoint"} is ${lane.state}; there ${lane.depth === "1" ? "is" : "are"} ${waiting} in it, in order.`,
        todo: isHandlerId(lane.endpointId)
          ? ["See why: posthorn consumers list", `Go on: ${resumeLine(lane.endpointId)}`]
          : [`See why: posthorn endpoint show ${lane.endpointId}`, `Go on: ${resumeLine(lane.endpointId)}`],
      };
  }
  // A newer server may know more states than we do.
  return { says: `It is ${String(lane.state)}; ${waiting} in it.`, todo: [] };
}
