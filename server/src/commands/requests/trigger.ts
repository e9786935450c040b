import type { Command } from "commander";
import { isPosthornError } from "posthorn/client";
import type { Client } from "posthorn/client";
import { signedUrl } from "posthorn/gateway";
import type { TestRequest } from "posthorn/testing";
import { CommandFailure } from "../../terminal/failure.js";
import { count } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, wholeNumber } from "../define-command.js";
import type { Run } from "../define-command.js";
import { parseData } from "../events/event-body.js";
import { providerOf, sampleRequest } from "../sources/provider.js";
import { SECRET_FLAGS, signingSecretsOf } from "./secret-input.js";
import type { SecretOptions } from "./secret-input.js";
import { sendRequest } from "./send-request.js";
import type { Answered } from "./send-request.js";
import { curlLine } from "./written-request.js";

interface TriggerOptions extends SecretOptions {
  readonly source?: string;
  readonly data?: unknown;
  readonly id?: string;
  readonly repeat: number;
  readonly publicUrl?: string;
  readonly print?: boolean;
}

export function registerTrigger(program: Command, context: CommandContext): void {
  defineCommand<TriggerOptions>(program, context, {
    form: "trigger <provider> [type]",
    says: "Send a signed sample of a provider's event to a source, as the provider would.",
    examples: [
      "posthorn trigger stripe invoice.paid",
      `posthorn trigger github push --source code --secret s3cr3t --data '{"ref":"refs/heads/main"}'`,
      "posthorn trigger stripe invoice.paid --id evt_1 --repeat 5",
      "posthorn trigger shopify orders/create --print",
    ],
    flags: [
      { form: "--source <name>", says: "The source to send to; named as the provider where it is left out." },
      { form: "--data <json>", says: "Laid over the sample.", parse: parseData },
      { form: "--id <id>", says: "The event's id, where the provider sends one." },
      {
        form: "--repeat <n>",
        says: "Send the same request so often at once.",
        parse: wholeNumber(1, 1000),
        initial: 1,
      },
      { form: "--public-url <url>", says: "The URL as the provider has it, where it signs the URL." },
      { form: "--print", says: "Send nothing; print a curl line." },
      ...SECRET_FLAGS,
    ],
    run: trigger,
  });
}

async function trigger(run: Run<TriggerOptions>): Promise<void> {
  const { args, options, print, context, url } = run;
  const provider = await providerOf(args[0] ?? "");
  const source = options.source ?? provider;
  const secrets = await signingSecretsOf(options, context);
  const address = `${url()}/in/${encodeURIComponent(source)}`;
  const publicUrl =
    options.publicUrl ??
    (options.print === true ? undefined : await publicUrlOf(run.client(), source, provider));
  const request = await sampleRequest(provider, {
    url: publicUrl === undefined ? address : signedUrl({ url: new URL(address).pathname }, { publicUrl }),
    clock: context.clock,
    ...(args[1] !== undefined && { type: args[1] }),
    ...(options.id !== undefined && { id: options.id }),
    ...(options.data !== undefined && { data: Object(options.data) as Readonly<Record<string, unknown>> }),
    ...(secrets.length > 0 && { secrets }),
  });
  const sent = { ...request, url: address + new URL(request.url).search };
  if (options.print === true) {
    const curl = curlLine(sent);
    print.show({ ...sent, body: Buffer.from(sent.body).toString("base64"), curl }, () => print.block(curl));
    return;
  }
  const answers = await Promise.all(
    Array.from({ length: options.repeat }, () => sendRequest(context.fetch, sent)),
  );
  tell(run, { source, request, answers, ownSecret: secrets.length > 0 });
}

/** The URL that the provider signs: by the source's options, else its whole address, which the server knows. Fails where there is no source. */
async function publicUrlOf(client: Client, source: string, provider: string): Promise<string | undefined> {
  try {
    const { options, url } = await client.sources.get(source);
    const named = options["publicUrl"];
    return typeof named === "string" ? named : (url ?? undefined);
  } catch (error) {
    if (!isPosthornError(error) || error.code !== "api_not_found") throw error;
    const scheme = source === provider ? "" : ` --scheme ${provider}`;
    throw new CommandFailure("failed", `There is no source "${source}".`, {
      cure: `Add one that believes the test secret: posthorn source add ${source}${scheme} --test-secret`,
      code: "source_unknown",
    });
  }
}

interface Sent {
  readonly source: string;
  readonly request: TestRequest;
  readonly answers: readonly Answered[];
  readonly ownSecret: boolean;
}

function tell({ print }: Run<TriggerOptions>, { source, answers, ownSecret }: Sent): void {
  const refused = answers.find(({ status }) => status < 200 || status >= 300);
  const tally = new Map<string, number>();
  for (const { status, verdict, event } of answers) {
    const words = `${status} ${verdict ?? "without a verdict"}${event === undefined ? "" : ` ${event}`}`;
    tally.set(words, (tally.get(words) ?? 0) + 1);
  }
  print.show({ source, answers }, () => {
    for (const [words, times] of tally) {
      const often = answers.length === 1 ? "" : `${count(times, "request")}: `;
      print.line(often, { text: words, tone: refused === undefined ? "good" : "bad" });
    }
  });
  if (refused !== undefined) throw refusal(refused, source, ownSecret);
  const { event } = answers.find((answer) => answer.event !== undefined) ?? {};
  if (event !== undefined)
    print.hint({ text: `See what becomes of it: posthorn events show ${event}`, tone: "faint" });
}

function refusal({ status }: Answered, source: string, ownSecret: boolean): CommandFailure {
  if (status !== 401)
    return new CommandFailure("failed", `The server answered ${status}.`, { code: "trigger_failed" });
  return new CommandFailure("failed", "The source did not believe the signature.", {
    cure: ownSecret
      ? `The diagnosis: posthorn rejected list --source ${source}`
      : "It was signed with the public test secret; give the source's own with --secret-file or POSTHORN_SECRET.",
    code: "trigger_failed",
  });
}
