import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { isPosthornError } from "posthorn/client";
import type { Client, Lane } from "posthorn/client";
import { confirm } from "../../terminal/confirm.js";
import { CommandFailure } from "../../terminal/failure.js";
import { count } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, YES_FLAG } from "../define-command.js";
import type { Flag, Run, YesOption } from "../define-command.js";

interface SkipOptions extends YesOption {
  readonly head?: string;
}

const HEAD_FLAG: Flag = {
  form: "--head <sequence>",
  says: "Only where this is the head: a command that is repeated passes over nothing more.",
  parse: (text) => {
    if (/^\d{1,19}$/.test(text)) return BigInt(text).toString();
    throw new InvalidArgumentError("Expected a sequence, as `posthorn lanes show` tells it.");
  },
};

export function registerSkip(program: Command, context: CommandContext): void {
  defineCommand<SkipOptions>(program, context, {
    form: "skip <lane>",
    says: "Pass over the head of a lane: it is not sent, and the receiver is told of the gap.",
    examples: ["posthorn skip 12", "posthorn skip 12 --head 7 --yes"],
    flags: [HEAD_FLAG, YES_FLAG],
    run: async (run) => {
      const { args, options, client, print } = run;
      const [id = ""] = args;
      const head = options.yes === true && options.head !== undefined ? options.head : await chooseHead(run);
      const skipped = await client().lanes.skip(id, head);
      print.show({ lane: id, sequence: head, ...skipped }, () => {
        print.line(
          skipped.result === "skipped"
            ? `Passed over sequence ${head}; the lane goes on.`
            : `Sequence ${head} is under way; it is passed over unless this attempt succeeds.`,
        );
      });
    },
  });
}

/** The head that a person agreed to skip; it may have changed since. */
async function chooseHead({ args, options, client, context }: Run<SkipOptions>): Promise<string> {
  const [id = ""] = args;
  const calls = client();
  const lane = await calls.lanes.get(id);
  if (options.head !== undefined && options.head !== lane.head) {
    throw new CommandFailure("failed", `The head of lane ${id} is ${lane.head}. Nothing was skipped.`, {
      cure: `Look at it: posthorn lanes show ${id}`,
      code: "lane_moved",
    });
  }
  if (options.yes === true) return lane.head;
  await confirm(
    context.terminal,
    `Pass over ${await eventAt(calls, lane)}, sequence ${lane.head}, the head of lane ${lane.id} ` +
      `(endpoint ${lane.endpointId}, key ${lane.key})? ` +
      `${count(BigInt(lane.depth) - 1n, "delivery", "deliveries")} behind it go on.`,
    { yes: false },
  );
  return lane.head;
}

/** The event at the head, or its delivery if the event is gone: such a lane halts until it is skipped. */
async function eventAt(calls: Client, { headId }: Lane): Promise<string> {
  try {
    return `event ${(await calls.deliveries.get(headId)).eventId}`;
  } catch (error) {
    if (isPosthornError(error) && error.code === "api_not_found") return headId;
    throw error;
  }
}
