import type { Command } from "commander";
import { generateSecret } from "posthorn/verify";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";
import type { Run } from "../define-command.js";
import { bodyOf, parseData } from "../events/event-body.js";
import type { BodyOptions } from "../events/event-body.js";
import { providerOf, sampleRequest } from "../sources/provider.js";
import { SECRET_FLAGS, signingSecretsOf } from "./secret-input.js";
import type { SecretOptions } from "./secret-input.js";
import { curlLine, rawText } from "./written-request.js";

interface SignOptions extends BodyOptions, SecretOptions {
  readonly scheme: string;
  readonly type?: string;
  readonly id?: string;
  readonly to?: string;
  readonly curl?: boolean;
  readonly newSecret?: boolean;
}

export function registerSign(program: Command, context: CommandContext): void {
  defineCommand<SignOptions>(program, context, {
    form: "sign",
    says: "Sign a request as a provider would and print it; `posthorn verify` reads what it prints.",
    examples: [
      "posthorn sign --body-file body.json --secret-file endpoint.secret --to https://example.com/hooks --curl",
      "posthorn sign --scheme stripe --type invoice.paid > request.http",
      "posthorn sign --new-secret",
    ],
    flags: [
      { form: "--scheme <provider>", says: "How to sign.", initial: "standard_webhooks" },
      { form: "--body-file <path>", says: "The exact bytes to sign; - is the standard input." },
      { form: "--stdin", says: "The same as --body-file -." },
      {
        form: "--data <json>",
        says: "Instead, data that is laid over the provider's sample.",
        parse: parseData,
      },
      { form: "--type <type>", says: "The event's type." },
      { form: "--id <id>", says: "The event's id, where the provider sends one." },
      { form: "--to <url>", says: "Where it goes; some providers sign it." },
      { form: "--curl", says: "Print a curl line." },
      { form: "--new-secret", says: "Sign nothing; print a new secret for an endpoint." },
      ...SECRET_FLAGS,
    ],
    local: true,
    run: signRequest,
  });
}

async function signRequest({ options, print, context }: Run<SignOptions>): Promise<void> {
  if (options.newSecret === true) {
    const secret = generateSecret();
    print.show({ secret }, () => print.line(secret));
    return;
  }
  const provider = await providerOf(options.scheme);
  const body = await bodyOf(options, context);
  const secrets = await signingSecretsOf(options, context);
  if (secrets.length === 0) print.warn("It is signed with the public test secret: no other was given.");
  const { data, type, id, to } = options;
  const request = await sampleRequest(provider, {
    clock: context.clock,
    ...(to !== undefined && { url: to }),
    ...(body !== undefined && { body }),
    ...(data !== undefined && { data: Object(data) as Readonly<Record<string, unknown>> }),
    ...(type !== undefined && { type }),
    ...(id !== undefined && { id }),
    ...(secrets.length > 0 && { secrets }),
  });
  print.show({ ...request, body: Buffer.from(request.body).toString("base64") }, () => {
    if (options.curl === true) print.block(curlLine(request));
    else if (context.terminal.isTty) print.block(new TextDecoder().decode(rawText(request)));
    else context.terminal.write(rawText(request));
  });
}
