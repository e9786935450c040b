import type { Command } from "commander";
import type { Client } from "posthorn/client";
import { CommandFailure } from "../../terminal/failure.js";
import { count } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";

interface RetryOptions {
  readonly endpoint?: string;
}

export function registerRetry(program: Command, context: CommandContext): void {
  defineCommand<RetryOptions>(program, context, {
    form: "retry [id]",
    says: "Try now what has failed and waits for its next attempt: a lane, a delivery, or all of an endpoint.",
    examples: ["posthorn retry --endpoint ep_shop", "posthorn retry 12", "posthorn retry dlv_12_7"],
    flags: [{ form: "--endpoint <id>", says: "All that waits at this endpoint, in the order of each lane." }],
    run: async ({ args: [id], options: { endpoint }, client, print }) => {
      const { retried } = await retry(client(), id, endpoint);
      const what = endpoint ?? id ?? "";
      const why = retried === 0 ? await whyNothing(client(), id, endpoint) : "";
      print.show({ what, retried }, () => {
        print.line(
          retried === 0
            ? why
            : `Due now: ${count(retried, "delivery", "deliveries")}. What waits behind ${retried === 1 ? "it" : "them"} follows in order.`,
        );
      });
    },
  });
}

/** Nothing is tried at an endpoint that is stopped, and retrying it says so: it has to be resumed. */
async function whyNothing(
  client: Client,
  id: string | undefined,
  endpoint: string | undefined,
): Promise<string> {
  const asked = endpoint ?? (await client.lanes.get(id ?? "").catch(() => undefined))?.endpointId;
  const found = asked === undefined ? undefined : await client.endpoints.get(asked).catch(() => undefined);
  if (found !== undefined && found.state !== "active")
    return `Nothing is tried: ${found.id} is ${found.state}. Go on with: posthorn endpoint resume ${found.id}`;
  return "Nothing had to wait: what has failed is due already, is under way or was given up (`posthorn dead list`).";
}

function retry(
  client: Client,
  id: string | undefined,
  endpoint: string | undefined,
): Promise<{ readonly retried: number }> {
  if ((id === undefined) === (endpoint === undefined)) {
    throw new CommandFailure(
      "usage",
      "Name a lane or a delivery, or an endpoint with --endpoint; one of them.",
      {
        cure: "`posthorn lanes list` shows what waits.",
      },
    );
  }
  if (endpoint !== undefined) return client.endpoints.retry(endpoint);
  const named = id ?? "";
  if (named.startsWith("dlv_")) return client.deliveries.retry(named);
  if (/^\d{1,19}$/.test(named)) return client.lanes.retry(named);
  throw new CommandFailure("usage", `"${named}" is neither a lane (a number) nor a delivery (dlv_…).`, {
    cure: named.startsWith("ep_")
      ? `Say: posthorn retry --endpoint ${named}`
      : "`posthorn lanes list` shows what waits.",
  });
}
