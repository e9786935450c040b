import type { Command } from "commander";
import { confirm } from "../terminal/confirm.js";
import { count } from "../terminal/for-people.js";
import type { CommandContext } from "./command-context.js";
import { defineCommand, YES_FLAG } from "./define-command.js";
import type { YesOption } from "./define-command.js";

export function registerSkip(program: Command, context: CommandContext): void {
  defineCommand<YesOption>(program, context, {
    form: "skip <lane>",
    says: "Pass over the head of a lane: it is not sent, and the receiver is told of the gap.",
    examples: ["posthorn skip 12"],
    flags: [YES_FLAG],
    run: async ({ args: [id = ""], options, client, print, context: { terminal } }) => {
      const { lanes } = client();
      const lane = await lanes.get(id);
      await confirm(
        terminal,
        `Pass over ${lane.headId}, the head of lane ${lane.id} (endpoint ${lane.endpointId}, key ${lane.key})? ` +
          `${count(BigInt(lane.depth) - 1n, "delivery", "deliveries")} behind it go on.`,
        { yes: options.yes === true },
      );
      const skipped = await lanes.skip(id);
      print.show({ lane: lane.id, sequence: lane.head, ...skipped }, () => {
        print.line(
          skipped.result === "skipped"
            ? `Passed over sequence ${lane.head}; the lane goes on.`
            : `Sequence ${lane.head} is under way; it is passed over unless this attempt succeeds.`,
        );
      });
    },
  });
}
