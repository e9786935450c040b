import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { packageVersion } from "../../package-version.js";
import { CommandFailure } from "../../terminal/failure.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand } from "../define-command.js";
import type { Run } from "../define-command.js";
import { providerOf } from "../sources/provider.js";
import { nextSteps } from "./next-steps.js";
import { printPackageJson, readPackageJson } from "./package-json.js";
import { planInit } from "./plan.js";
import type { Plan } from "./plan.js";
import { DATABASES, FRAMEWORKS, readProject } from "./project.js";
import type { Database, Framework } from "./project.js";
import type { Answers } from "./receiver-files.js";
import { readSurroundings } from "./surroundings.js";

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
  const { manifest, layout } = readPackageJson(options.dir);
  const around = readSurroundings(options.dir, manifest);
  const project = readProject(manifest, options, around);
  const answers = await askFor(options, context);
  const plan = planInit(project, answers, { manifest, around, version: packageVersion() });
  write(options.dir, plan, printPackageJson({ manifest: plan.manifest, layout }));
  const files = [...plan.files.map(({ path }) => path), "package.json"];
  const { added, testScript } = plan;
  print.show({ ...project, ...answers, files, added, testScript }, () => {
    for (const path of files) print.line(`wrote ${path}`);
    print.line("");
    for (const line of nextSteps(project, answers, plan)) print.line(line);
  });
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

/** All files or none: a file or a script that is there already is somebody's work. */
function write(dir: string, { files, taken }: Plan, packageJson: string): void {
  const there = files.filter(({ path }) => existsSync(join(dir, path))).map(({ path }) => path);
  const scripts = taken.map((name) => `"${name}" of package.json`);
  if (there.length + scripts.length > 0) {
    const move = there.length === 0 ? [] : ["Move these files away first."];
    const rename = scripts.length === 0 ? [] : ["Rename these scripts first."];
    throw new CommandFailure("failed", `There is already ${[...there, ...scripts].join(", ")}.`, {
      cure: ["Nothing was written.", ...move, ...rename].join(" "),
      code: "file_exists",
    });
  }
  for (const { path, text } of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  writeFileSync(join(dir, "package.json"), packageJson);
}
