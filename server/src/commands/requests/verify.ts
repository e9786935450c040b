import type { Command } from "commander";
import { diagnose, isPosthornError, readEvents, verify } from "posthorn";
import type { PosthornError, SignedRequest, Verified, Verifier } from "posthorn";
import { absoluteUrl } from "posthorn/gateway";
import { sourceVerifier } from "../../ingest/source-verifier.js";
import { CommandFailure } from "../../terminal/failure.js";
import { count, relative, size } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, gather, instantAfter } from "../define-command.js";
import type { Run } from "../define-command.js";
import { parseRawRequest, headersOf } from "./raw-request.js";
import type { RawRequest } from "./raw-request.js";
import { drawDiagnosis } from "../sources/rejected.js";
import { readBytes, SECRET_FLAGS, signingSecretsOf } from "./secret-input.js";
import type { SecretOptions } from "./secret-input.js";
import { parseOption } from "../sources/source-fields.js";

interface VerifyOptions extends SecretOptions {
  readonly scheme: string;
  readonly header?: readonly string[];
  readonly bodyFile?: string;
  readonly requestUrl?: string;
  readonly method?: string;
  readonly at?: string;
  readonly option?: Readonly<Record<string, unknown>>;
}

export function registerVerify(program: Command, context: CommandContext): void {
  defineCommand<VerifyOptions>(program, context, {
    form: "verify [file]",
    says: "Judge a pasted request: whether its signature holds, and if not, why. Ends with 0 or 1.",
    examples: [
      "posthorn verify request.http --scheme stripe --secret-file stripe.secret",
      "pbpaste | posthorn verify --scheme github --secret-file github.secret",
      "posthorn verify --body-file body.json --header 'stripe-signature: t=…,v1=…' --scheme stripe --at 2027-01-31T12:00:00Z",
    ],
    flags: [
      {
        form: "--scheme <name>",
        says: "How it should be signed, as for `posthorn source add`.",
        initial: "standard_webhooks",
      },
      {
        form: "--header <name: value>",
        says: "A header, instead of a pasted request; several times.",
        parse: gather,
      },
      { form: "--body-file <path>", says: "The exact bytes of the body, instead of a pasted request." },
      { form: "--request-url <url>", says: "The URL as the provider has it, where it signs the URL." },
      { form: "--method <method>", says: "The method, where it is not POST." },
      {
        form: "--at <time>",
        says: "Judge as if it were then: a request that was kept is old.",
        parse: instantAfter(() => context.clock.now()),
      },
      {
        form: "--option <name=value>",
        says: "What the scheme needs besides, as webhookId=…",
        parse: parseOption,
      },
      ...SECRET_FLAGS,
    ],
    local: true,
    run: verifyRequest,
  });
}

async function verifyRequest(run: Run<VerifyOptions>): Promise<void> {
  const { options, print, context } = run;
  const verifier = await verifierOf(options, context);
  const raw = await rawOf(run);
  const request = signedOf(raw, options);
  const outcome = await verify(verifier, request).catch((error: unknown) => {
    if (isPosthornError(error)) return error;
    throw error;
  });
  for (const note of raw.notes) print.warn(note);
  if ("code" in outcome) throw refused(run, outcome, raw);
  accepted(run, outcome);
}

async function verifierOf(options: VerifyOptions, context: CommandContext): Promise<Verifier> {
  const { scheme, at, option = {} } = options;
  const secrets = await signingSecretsOf(options, context);
  if (secrets.length === 0) {
    throw new CommandFailure("usage", "A signature is judged by its secret, and none was given.", {
      cure: "Give it with --secret-file, --secret or POSTHORN_SECRET; it is never printed.",
      code: "secret_missing",
    });
  }
  const clock = at === undefined ? context.clock : { now: () => Date.parse(at) };
  const source = { scheme: scheme.replaceAll("-", "_"), secrets, options: option };
  const verifier = sourceVerifier(source, clock, options.requestUrl);
  return { ...verifier, diagnose };
}

async function rawOf({ args, options, print, context }: Run<VerifyOptions>): Promise<RawRequest> {
  const { header, bodyFile } = options;
  if (header === undefined && bodyFile === undefined) {
    const path = args[0] ?? "-";
    if (path === "-" && context.terminal.inputIsTty) print.hint("Paste the request, then press Ctrl-D:");
    return parseRawRequest(await readBytes(path, context));
  }
  if (args.length > 0 || bodyFile === undefined || header === undefined) {
    throw new CommandFailure("usage", "The request is given by halves.", {
      cure: "Name a file with the whole request, or give both --header and --body-file.",
    });
  }
  const body = await readBytes(bodyFile, context);
  return { method: "POST", target: undefined, headers: headersOf(header), body, notes: [] };
}

function signedOf(raw: RawRequest, { requestUrl, method }: VerifyOptions): SignedRequest {
  const { headers, body, target } = raw;
  const { host } = headers;
  // A pasted request has its host in a header; providers call https.
  const own = target === undefined || host === undefined ? target : absoluteUrl(target, "https", host);
  const url = requestUrl ?? own;
  return { headers, body, method: method ?? raw.method, ...(url !== undefined && { url }) };
}

function accepted({ print, context }: Run<VerifyOptions>, verified: Verified): void {
  const events = readEvents(verified);
  const { scheme } = verified.verifier;
  const report = {
    verified: true,
    scheme: scheme.name,
    key: verified.key,
    signedAt: verified.signedAt?.toISOString() ?? null,
    events: events.map(({ id, type, time }) => ({
      id: id ?? null,
      type: type ?? null,
      time: time?.toISOString() ?? null,
    })),
  };
  print.show(report, () => {
    print.line({ text: "The signature holds.", tone: "good" }, ` ${scheme.title}, ${verified.key}.`);
    if (report.signedAt !== null) {
      print.line(`Signed ${report.signedAt} (${relative(report.signedAt, context.clock.now())}).`);
    }
    print.line(`${count(events.length, "event")}:`);
    for (const { id, type } of report.events)
      print.line("  ", { text: id ?? "no id", tone: "name" }, ` ${type ?? "no type"}`);
    if (!scheme.covers.body)
      print.line({ text: "The body is not signed: anybody could have written it.", tone: "warn" });
  });
}

function refused({ print }: Run<VerifyOptions>, error: PosthornError, raw: RawRequest): CommandFailure {
  const { diagnosis = [] } = error.detail as { readonly diagnosis?: readonly string[] };
  const { code, message } = error;
  print.show({ verified: false, code, message, diagnosis }, () => {
    print.line(
      { text: "The signature does not hold.", tone: "bad" },
      ` (${code}, body of ${size(raw.body.length)})`,
    );
    drawDiagnosis(print, { message, diagnosis });
  });
  return new CommandFailure("failed", "The request is refused.", { code, told: true });
}
