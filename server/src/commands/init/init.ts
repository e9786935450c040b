import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { packageVersion } from "../../package-version.js";
import { CommandFailure } from "../../terminal/failure.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";
import type { Run } from "../define-command.js";
import { providerOf } from "../sources/provider.js";
import { planInit } from "./plan.js";
import type { Plan } from "./plan.js";
import { DATABASES, FRAMEWORKS, readProject } from "./project.js";
import type { Database, Framework, Manifest, Project } from "./project.js";
import { secretOf } from "./receiver-files.js";
import type { Answers } from "./receiver-files.js";

interface InitOptions {
  readonly framework?: Framework;
  readonly database?: Database;
  readonly provider?: string;
  readonly type?: string;
  readonly dir: string;
  readonly yes?: boolean;
}

/** Adds `posthorn init`. */
export function registerInit(program: Command, context: CommandContext): void {
  defineCommand<InitOptions>(program, context, {
    form: "init",
    says: "Write a receiver with its migration and its test, for the framework and the database of this project.",
    examples: ["posthorn init", "posthorn init --provider github --type push --yes"],
    local: true,
    flags: [
      { form: "--provider <name>", says: "Who sends the webhooks." },
      { form: "--type <type>", says: "The type of event that the first handler is for; * for all." },
      {
        form: "--framework <name>",
        says: "Instead of the one that package.json names.",
        choices: Object.keys(FRAMEWORKS),
      },
      {
        form: "--database <name>",
        says: "Instead of the one that package.json names.",
        choices: Object.keys(DATABASES),
      },
      { form: "--dir <folder>", says: "Where the project is.", initial: "." },
      { form: "-y, --yes", says: "Ask nothing: a flag that is left out has its default." },
    ],
    run: init,
  });
}

/** A type that most people begin with. */
const FIRST_TYPES: Readonly<Record<string, string>> = {
  stripe: "invoice.paid",
  github: "push",
  shopify: "orders/create",
};

async function init({ options, print, context }: Run<InitOptions>): Promise<void> {
  const manifest = readManifest(options.dir);
  const project = readProject(manifest, options);
  const answers = await askFor(options, context);
  const folder = existsSync(join(options.dir, "src")) ? "src/webhooks" : "webhooks";
  const plan = planInit(project, answers, { manifest, version: packageVersion(), folder });
  write(options.dir, plan);
  const files = [...plan.files.map(({ path }) => path), "package.json"];
  print.show({ ...project, ...answers, files, added: plan.added }, () => {
    for (const path of files) print.line(`wrote ${path}`);
    print.line("");
    for (const line of nextSteps(project, answers, plan)) print.line(line);
  });
}

function readManifest(dir: string): Manifest {
  const path = join(dir, "package.json");
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Manifest;
  } catch (error) {
    throw new CommandFailure("usage", `${path} cannot be read: ${(error as Error).message}`, {
      cure: "Run this in a project, after npm init, or name its folder by --dir.",
      code: "manifest_unreadable",
    });
  }
}

const PAYPAL =
  "PayPal signs with a certificate that it serves, and for the id of your webhook; init cannot write that.";

/** The two questions, unless flags answer them. */
async function askFor({ provider, type, yes }: InitOptions, { terminal }: CommandContext): Promise<Answers> {
  const ask = async (question: string, given: string | undefined, initial: string): Promise<string> => {
    if (given !== undefined) return given;
    if (yes === true) return initial;
    if (!terminal.inputIsTty) {
      throw new CommandFailure("usage", `${question} Nobody can be asked here: this is no terminal.`, {
        cure: "Say --provider and --type, or --yes for the defaults.",
        code: "answer_needed",
      });
    }
    const answer = (await terminal.ask(`${question} [${initial}] `)).trim();
    return answer === "" ? initial : answer;
  };
  const name = await providerOf(await ask("Who sends the webhooks?", provider, "stripe"));
  if (name === "paypal")
    throw new CommandFailure("usage", PAYPAL, {
      cure: "docs/providers.md has the code of the verifier: run init for another provider, and put it in place of that one's.",
      code: "provider_unsupported",
    });
  const first = await ask("Which type of event comes first?", type, FIRST_TYPES[name] ?? "*");
  if (/["\\\s]/.test(first)) {
    throw new CommandFailure("usage", "A type has no quotes, backslashes or spaces.", {
      code: "type_invalid",
    });
  }
  return { provider: name, type: first };
}

/** All files or none: a file that is there already is somebody's work. */
function write(dir: string, { files, manifest }: Plan): void {
  const there = files.filter(({ path }) => existsSync(join(dir, path)));
  if (there.length > 0) {
    throw new CommandFailure("failed", `There is already ${there.map(({ path }) => path).join(", ")}.`, {
      cure: "Nothing was written. Move these files away first.",
      code: "file_exists",
    });
  }
  for (const { path, text } of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  writeFileSync(join(dir, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

function nextSteps(
  { framework, database, reference, typescript }: Project,
  { provider }: Answers,
  { added, manifest }: Plan,
): readonly string[] {
  const url = database === "sqlite" ? "" : "DATABASE_URL=postgres://… ";
  return [
    ...(added.length === 0 ? [] : [`npm install                       # for ${added.join(", ")}`]),
    `${url}npm test`,
    `${url}npm run posthorn:migrate`,
    `Then set ${secretOf(provider)}, and mount it: ${MOUNTS[framework]}`,
    ...importsOf(framework, { reference, requires: !typescript && manifest.type !== "module" }).map(
      (line) => `  ${line}`,
    ),
    `Rows of the inbox are kept until they are purged: ${PURGES[framework]}.keepPurged({ everyMs: 60_000 })`,
  ];
}

/** What the line that mounts the receiver needs, in a file beside the folder that was written. */
function importsOf(
  framework: Framework,
  { reference, requires }: { readonly reference: string; readonly requires: boolean },
): readonly string[] {
  const from = (name: string, module: string): string =>
    requires ? `const { ${name} } = require("${module}");` : `import { ${name} } from "${module}";`;
  const open = `${from("openDatabase", `./webhooks/database.${reference}`)} // const db = await openDatabase();`;
  if (framework === "nest")
    return [from("AppWebhooksModule", `./webhooks/webhooks.module.${reference}`), open];
  return [
    from("createWebhooks", `./webhooks/receiver.${reference}`),
    open,
    from("webhooks", `posthorn/${framework}`),
  ];
}

/** Where the receiver is found that removes old rows. */
const PURGES: Readonly<Record<Framework, string>> = {
  express: "createWebhooks(db)",
  fastify: "createWebhooks(db)",
  hono: "createWebhooks(db)",
  nest: "app.get(Webhooks).receiver",
};

const MOUNTS: Readonly<Record<Framework, string>> = {
  express: 'app.use("/webhooks", webhooks(createWebhooks(db))) before express.json().',
  fastify: 'app.register(webhooks(createWebhooks(db)), { prefix: "/webhooks" }).',
  hono: 'app.post("/webhooks/:source", webhooks(createWebhooks(db))).',
  nest: "AppWebhooksModule.forRoot(db) in your module's imports.",
};
