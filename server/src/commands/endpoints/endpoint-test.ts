import type { Command } from "commander";
import { CommandFailure } from "../../terminal/failure.js";
import { duration } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";
import type { Run } from "../define-command.js";
import { parseData } from "../events/event-body.js";
import { explainAnswer } from "../deliveries/explain-delivery.js";

interface TestOptions {
  readonly type?: string;
  readonly data?: unknown;
}

export function registerEndpointTest(endpoint: Command, context: CommandContext): void {
  defineCommand<TestOptions>(endpoint, context, {
    form: "test <id>",
    says: "Send a signed event to an endpoint, at once and without keeping it, and show the answer.",
    examples: [
      "posthorn endpoint test ep_shop",
      `posthorn endpoint test ep_shop --type invoice.paid --data '{"id":7}'`,
    ],
    flags: [
      { form: "--type <type>", says: "Its type." },
      { form: "--data <json>", says: "Its data.", parse: parseData },
    ],
    run: testEndpoint,
  });
}

async function testEndpoint({ args: [id = ""], options, client, print }: Run<TestOptions>): Promise<void> {
  const { type, data } = options;
  const sent = await client().endpoints.test(id, {
    ...(type !== undefined && { type }),
    ...(data !== undefined && { data }),
  });
  const ok = sent.outcome === "acknowledged";
  print.show(sent, () => {
    print.facts([
      ["event", sent.eventId],
      ["outcome", { text: sent.outcome, tone: ok ? "good" : "bad" }],
      ["status", sent.status ?? "–"],
      ["error", sent.error ?? "–"],
      ["took", duration(sent.durationMs)],
    ]);
    if (sent.detail !== null) print.line(sent.detail);
    if (sent.answer === null || sent.answer === "") return;
    print.line();
    print.line({ text: "The answer begins with:", tone: "faint" });
    print.block(Buffer.from(sent.answer, "base64").toString("utf8"));
  });
  if (ok) return;
  const words = explainAnswer({ lastStatus: sent.status, lastError: sent.error });
  throw new CommandFailure("failed", `The endpoint did not take it: ${words}`, { code: "test_failed" });
}
