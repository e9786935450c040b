import { databasePart } from "./database-files.js";
import type { Project } from "./project.js";

/** What a person said. */
export interface Answers {
  /** As in `posthorn/testing`: `stripe`, `lemon_squeezy`. */
  readonly provider: string;
  /** The type of event that the first handler is for; `*` for all. */
  readonly type: string;
}

/** The provider's builder in `posthorn/providers`. */
export function builderOf(provider: string): string {
  if (provider === "standard_webhooks") return "standardWebhooks";
  return provider.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The environment variable that holds the secret. */
export function secretOf(provider: string): string {
  return `${provider.toUpperCase()}_WEBHOOK_SECRET`;
}

/** The environment variable that holds the receiver's own URL, for a provider whose verifier must know it. */
export const PUBLIC_URL = "WEBHOOKS_PUBLIC_URL";

/** Whether the verifier must know the receiver's own URL: all receivers of the sender share one public key. */
export function needsPublicUrl(provider: string): boolean {
  return provider === "http_signature";
}

/** What a verifier is made of: its options as a type, as they are unpacked, and as they are given. */
function verifierParts(provider: string): {
  readonly type: string;
  readonly unpack: string;
  readonly given: string;
} {
  const type = "secrets?: string | undefined";
  const unpack = `secrets = process.env["${secretOf(provider)}"]`;
  if (!needsPublicUrl(provider)) return { type, unpack, given: "{ secrets }" };
  return {
    type: `${type}; publicUrl?: string`,
    unpack: `${unpack}, publicUrl = process.env["${PUBLIC_URL}"] ?? ""`,
    given: "{ secrets, publicUrl }",
  };
}

/** The file that makes the receiver, or the module of Nest. */
export function receiverFile(project: Project, answers: Answers): string {
  return project.framework === "nest" ? nestModule(project, answers) : receiver(project, answers);
}

function importOf(provider: string): string {
  const from = provider === "standard_webhooks" ? "posthorn" : "posthorn/providers";
  return `import { ${builderOf(provider)} } from "${from}";`;
}

const REPORT = `observer: (signal) => {
      // What a sender is not told: why its request was refused, and where a handler threw.
      if (signal.kind === "signature_refused" || signal.kind === "request_refused") console.warn(JSON.stringify(signal));
      if (signal.kind === "store_failed") console.error(signal.code, signal.message);
      if (signal.kind === "event_received" && signal.verdict === "failed") console.error(signal.id, signal.why, signal.stack);
      // No handler of its type, another body under its id, or too old.
      if (signal.kind === "event_received" && ["skipped", "conflict", "stale"].includes(signal.verdict))
        console.warn(signal.source, signal.type, signal.id, signal.verdict, signal.why ?? "");
    },`;

function receiver(project: Project, { provider, type }: Answers): string {
  const { write, twoSteps, shared } = databasePart(project);
  const opened = ["storeOf", ...shared].join(", ");
  const reference = `./database${project.reference}`;
  const typed = (text: string): string => (project.typescript ? text : "");
  const verifier = verifierParts(provider);
  const schema = project.database === "sqlite" ? "" : ", schema";
  const parameters = `db${typed(": Database")}, options${typed(`: { ${verifier.type}${schema === "" ? "" : "; schema?: string"} }`)} = {}`;
  const unpack = `const { ${verifier.unpack}${schema} } = options;`;
  const handler = twoSteps
    ? `(event) => (tx) => {\n        ${write}\n      },`
    : `async (event, { tx }) => {\n        ${write}\n      },`;
  return `import { createReceiver } from "posthorn";
${importOf(provider)}
import { ${opened} } from "${reference}";
${typed(`import type { Database } from "${reference}";\n`)}
/** Verifies webhooks, and applies each event once, in one transaction with what its handler writes. */
export function createWebhooks(${parameters}) {
  ${unpack}
  return createReceiver({
    store: storeOf(db${schema}),
    sources: { ${provider}: ${builderOf(provider)}(${verifier.given}) },
    handlers: {
      "${handlerKey(provider, type)}": ${handler}
    },
    ${REPORT}
  });
}
`;
}

/** The key of the first handler. */
export function handlerKey(provider: string, type: string): string {
  return `${provider}:${type}`;
}

function nestModule(project: Project, { provider, type }: Answers): string {
  const { write, twoSteps, shared } = databasePart(project);
  const opened = ["storeOf", ...shared].join(", ");
  const schema = project.database === "sqlite" ? "" : ", schema";
  const option = schema === "" ? "" : "; schema?: string";
  const verifier = verifierParts(provider);
  const method = twoSteps
    ? `received(event: ReceivedEvent): (tx: Transaction) => void {
    return (tx) => {
      ${write}
    };
  }`
    : `async received(event: ReceivedEvent, { tx }: TransactionContext<Transaction>): Promise<void> {
    ${write}
  }`;
  const types = twoSteps ? "ReceivedEvent" : "ReceivedEvent, TransactionContext";
  return `import { Injectable, Module } from "@nestjs/common";
import type { DynamicModule } from "@nestjs/common";
import type { ${types} } from "posthorn";
import { OnWebhook, WebhooksModule } from "posthorn/nest";
${importOf(provider)}
import { ${opened} } from "./database${project.reference}";
import type { Database, Transaction } from "./database${project.reference}";

/** Handlers of webhooks: a provider like any other. Inject what it needs by @Inject(Token): tsx writes no types of parameters. */
@Injectable()
export class ReceivedWebhooks {
  @OnWebhook("${handlerKey(provider, type)}")
  ${method}
}

/** Add \`AppWebhooksModule.forRoot(db)\` to the imports of your module. */
@Module({})
export class AppWebhooksModule {
  static forRoot(db: Database, options: { ${verifier.type}${option} } = {}): DynamicModule {
    const { ${verifier.unpack}${schema} } = options;
    const webhooks = WebhooksModule.forRoot({
      store: storeOf(db${schema}),
      sources: { ${provider}: ${builderOf(provider)}(${verifier.given}) },
      ${REPORT.replaceAll("\n    ", "\n      ")}
    });
    return { module: AppWebhooksModule, imports: [webhooks], providers: [ReceivedWebhooks] };
  }
}
`;
}

/** The program behind the script `posthorn:migrate`. */
export function migrateFile({ reference, typescript }: Project): string {
  const result = typescript ? ": Promise<void>" : "";
  // No await at the top: a compiler that writes CommonJS refuses it (TS1378).
  return `import { closeDatabase, migrateDatabase, openDatabase } from "./database${reference}";

async function run()${result} {
  const db = await openDatabase();
  try {
    await migrateDatabase(db);
    console.log("The tables are there.");
  } finally {
    await closeDatabase(db);
  }
}

void run();
`;
}
