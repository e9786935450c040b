import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { createCommandContext } from "../server/src/commands/command-context.js";
import { drawBoard } from "../server/src/commands/demo/board.js";
import { TOWN } from "../server/src/commands/demo/character.js";
import { EXIT_CODES } from "../server/src/terminal/failure.js";
import { fakeTerminal } from "../test/cli/fake-terminal.js";
import { fakeProgram, runCommand } from "../test/cli/run-command.js";
import type { RunOptions } from "../test/cli/run-command.js";
import { ENDPOINT, LANES } from "../test/cli/samples.js";

// docs/cli.md is printed from the commands themselves: their help, and what they print for a server of samples.
// print-cli.test.ts keeps the two equal.

/** The page that shows every command. */
export async function cliPage(): Promise<string> {
  const program = fakeProgram(createCommandContext({ terminal: fakeTerminal() }));
  const sections: string[] = [];
  for (const command of program.commands) sections.push(await sectionOf(command));
  return [introduction(), ...sections].join("\n\n") + "\n";
}

async function sectionOf(command: Command): Promise<string> {
  const parts = [`## \`posthorn ${command.name()}\``, command.description()];
  if (command.commands.length === 0) parts.push(...(await partsOf(command, command.name())));
  for (const inner of command.commands) {
    const name = `${command.name()} ${inner.name()}`;
    parts.push(`### \`posthorn ${name}\``, ...(await partsOf(inner, name)));
  }
  return parts.join("\n\n");
}

async function partsOf(command: Command, name: string): Promise<readonly string[]> {
  const sample = name === "demo" ? demoSample() : await sampleOf(name);
  return [
    ...(sample === undefined ? [] : [fenced(sample)]),
    fenced(command.helpInformation() + examplesOf(command)),
  ];
}

/** Commander prints what stands after the help as an event; here it is asked for. */
function examplesOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (written) => {
      text += written;
    },
  });
  command.outputHelp();
  return text.slice(command.helpInformation().length);
}

function fenced(text: string): string {
  return ["```text", text.trimEnd(), "```"].join("\n");
}

interface Sample extends RunOptions {
  /** As a person types it. */
  readonly line: string;
  readonly args: readonly string[];
  /** Whether its input is no person. */
  readonly piped?: boolean;
}

async function sampleOf(name: string): Promise<string | undefined> {
  const samples = await SAMPLES[name]?.();
  if (samples === undefined) return undefined;
  const shown: string[] = [];
  for (const { line, args, piped = false, ...options } of samples) {
    const { out, err } = await runCommand(args, piped ? options : { columns: 100, ...options });
    shown.push(`$ posthorn ${line}\n${out}${err}`);
  }
  return shown.join("\n");
}

function plain(...lines: readonly string[]): () => Promise<readonly Sample[]> {
  return () => Promise.resolve(lines.map((line) => ({ line, args: line.split(" ") })));
}

const SECRET = "whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ==";

const SAMPLES: Readonly<Record<string, () => Promise<readonly Sample[]>>> = {
  "source list": plain("source list"),
  "source add": plain("source add stripe --test-secret"),
  "source show": plain("source show stripe"),
  "source remove": () =>
    Promise.resolve([{ line: "source remove stripe --yes", args: ["source", "remove", "stripe", "--yes"] }]),
  "endpoint list": plain("endpoint list"),
  "endpoint add": () =>
    Promise.resolve([
      {
        line: "endpoint add https://shop.example.com/webhooks --types 'invoice.*'",
        args: ["endpoint", "add", "https://shop.example.com/webhooks", "--types", "invoice.*"],
      },
    ]),
  "endpoint show": plain("endpoint show ep_shop"),
  "endpoint pause": plain("endpoint pause ep_shop"),
  "endpoint resume": plain("endpoint resume ep_shop"),
  "endpoint test": plain("endpoint test ep_shop"),
  send: plain("send --type invoice.paid --key cus_9 --data {}"),
  trigger: () => Promise.resolve([triggered()]),
  "events list": plain("events list"),
  "events show": plain("events show evt_2ZbGqk"),
  "events body": plain("events body evt_2ZbGqk"),
  "deliveries list": plain("deliveries list --event evt_2ZbGqk"),
  "deliveries show": plain("deliveries show dlv_12_7"),
  "lanes list": plain("lanes list"),
  "lanes show": plain("lanes show 12"),
  "dead list": plain("dead list"),
  redrive: plain("redrive dlv_12_7", "redrive --all --endpoint ep_shop --yes"),
  skip: plain("skip 12 --yes"),
  "rejected list": plain("rejected list"),
  "rejected show": plain("rejected show rej_7Qm2"),
  sign: () => Promise.resolve([signed()]),
  verify: verified,
  "token list": plain("token list"),
  "token create": plain("token create ci --expires 90d"),
  "token revoke": plain("token revoke tok_4f --yes"),
};

/** The same request five times at once. */
function triggered(): Sample {
  let before = 0;
  const fetch = (): Promise<Response> => {
    const verdict = before++ === 0 ? "stored" : "duplicate";
    const headers = { "posthorn-verdict": verdict, "posthorn-event": "evt_2ZbGqk" };
    return Promise.resolve(new Response(null, { headers }));
  };
  const line = "trigger stripe invoice.paid --repeat 5";
  return { line, args: line.split(" "), context: { fetch } };
}

function signed(): Sample {
  const args = [
    "sign",
    "--stdin",
    "--id",
    "evt_1",
    "--secret",
    SECRET,
    "--to",
    "https://shop.example.com/webhooks",
  ];
  return {
    line: "sign --body-file body.json --id evt_1 --secret-file shop.secret --to https://shop.example.com/webhooks",
    args,
    input: '{"type": "invoice.paid", "data": {"amount": 1999}}',
  };
}

/** One that holds, and the same after a program has parsed and written its body again. */
async function verified(): Promise<readonly Sample[]> {
  const { args: signing, ...options } = signed();
  const { out } = await runCommand(signing, options);
  const [head = "", body = ""] = out.split("\r\n\r\n");
  const changed = `${head.replace(/\r\ncontent-length: \d+/, "")}\r\n\r\n${body.replaceAll(" ", "")}`;
  const args = ["verify", "--secret", SECRET, "-"];
  return [
    { line: "verify request.http --secret-file shop.secret", args, input: out, piped: true },
    { line: "verify changed.http --secret-file shop.secret", args, input: changed, piped: true },
  ];
}

function demoSample(): string {
  const numbers = [
    [458, 0, 0],
    [392, 0, 0],
    [422, 174, 0],
    [282, 15, 1],
    [40, 6, 0],
    [445, 5, 0],
  ];
  const houses = TOWN.map((character, index) => {
    const [taken = 0, failed = 0, repeated = 0] = numbers[index] ?? [];
    const report = { requests: taken + failed, taken, failed, repeated, outOfOrder: 0 };
    const isGone = character.name === "circus";
    return {
      house: { character, url: "", report: () => report },
      endpoint: {
        ...ENDPOINT,
        id: `ep_${character.name}`,
        state: isGone ? ("disabled" as const) : ENDPOINT.state,
      },
    };
  });
  const [halted, flowing] = LANES;
  const lanes = [
    halted && { ...halted, endpointId: "ep_pharmacy" },
    flowing && { ...flowing, endpointId: "ep_library" },
  ];
  const moment = {
    published: 458,
    passedMs: 15_000,
    url: "http://127.0.0.1:8710",
    houses,
    lanes: lanes.filter((lane) => lane !== undefined),
  };
  return `$ posthorn demo\n${drawBoard(moment, { width: 100, colour: false }, 40).join("\n")}`;
}

function introduction(): string {
  return INTRODUCTION.replace("EXIT_CODES", exitTable());
}

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: "it was done",
  failed: "it failed, or what was asked for is not there; of `verify`: the signature does not hold",
  usage: "the command line is wrong, or a question could not be asked",
  unreachable: "the server could not be reached, or cannot work for now",
  refused: "no token, or one that may not do this",
  interrupted: "Ctrl-C",
};

function exitTable(): string {
  const rows = Object.entries(EXIT_CODES).map(
    ([name, code]) => `| ${code} | ${EXIT_MEANINGS[name as keyof typeof EXIT_CODES]} |`,
  );
  return ["| code | meaning |", "|---|---|", ...rows].join("\n");
}

const INTRODUCTION = `# The command line

\`posthorn\` is the command of the package \`posthorn-server\`; the library's own command of the same name hands over to it.
All commands below talk to a server that runs, over its API. This page is printed from the commands. Those that run and look after
a server open its database themselves, and take its settings (\`--config\`, [configuration.md](configuration.md)):

| command | does |
|---|---|
| \`posthorn serve\` | runs the server: [server.md](server.md) |
| \`posthorn migrate\` | creates and changes the tables, for servers with \`--no-migrate\` |
| \`posthorn doctor\` | looks for what an installation can get wrong |
| \`posthorn restored\` | after a backup was restored: [runbook.md](runbook.md#a-backup-was-restored) |
| \`posthorn config\` | prints and checks settings, makes keys and tokens: [configuration.md](configuration.md) |
| \`posthorn token create NAME --offline\` | makes a token in the database, where every token is lost |

**Completion** of commands and flags: \`source <(posthorn completion bash)\` in \`~/.bashrc\`, the same with \`zsh\`, or
\`posthorn completion fish > ~/.config/fish/completions/posthorn.fish\`.

**To look**, a group of commands needs no second word: \`posthorn events\` is \`posthorn events list\`, with the same flags.

**Which server.** \`--url\` and \`--token\`, else \`POSTHORN_URL\` and \`POSTHORN_TOKEN\`, else \`posthorn-data/cli.json\`, which
\`posthorn serve\` writes: in the directory of the server, nothing has to be said. The token of that file is sent to the server
that wrote it and to no other. Elsewhere, on call say, export \`POSTHORN_URL\` and \`POSTHORN_TOKEN\`; \`POSTHORN_DATA_DIR\` names
another directory for \`cli.json\`.

**For scripts.** \`--json\` prints one JSON document on the standard output, with the fields of the API; a list is
\`{ "items": […], "next": … }\`, and with \`--follow\` one line for each item. A failure is \`{ "error": { "code", "message",
"cure" } }\` on the standard error. Tables are for people and may change.

**On a terminal** there are colours (not with \`NO_COLOR\`; \`FORCE_COLOR\` asks for them elsewhere), tables are cut to its width,
and what cannot be taken back is asked about. Without a terminal nobody can be asked: say \`--yes\`. Progress and hints go to the
standard error.

**Hostile text** is shown as escapes: event types, keys, headers and answers come from others, and a control character in them
would otherwise act upon your terminal. Bytes that are piped on are exact.

**Secrets** on a command line can be seen by other users of the machine: \`--secret-file\` cannot, nor \`POSTHORN_SECRET\`, which
\`sign\`, \`verify\` and \`trigger\` read. A secret is never printed, but for one that was just made.

EXIT_CODES`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  void cliPage().then((page) => writeFileSync(new URL("../docs/cli.md", import.meta.url), page));
}
