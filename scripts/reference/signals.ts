import type { Node, TSTypeLiteral } from "oxc-parser";
import type { SourceFile } from "../../test/architecture/source.js";
import { docBefore } from "./doc-comment.js";

const OBSERVER = "library/src/observer.ts";

/** One signal, as its type describes it. */
export interface SignalEntry {
  readonly kind: string;
  readonly says: string;
  readonly fields: readonly string[];
  /** Whose observers hear it. */
  readonly heard: readonly string[];
}

/** Who speaks where a signal is written. The first that fits counts. */
const SPEAKERS: readonly (readonly [path: RegExp, speaker: string])[] = [
  // A source's verifier speaks to the observer of its receiver, where it has none of its own.
  [/^signature\/verify\.ts$/, "verifier, receiver"],
  [/^signature\//, "verifier"],
  [/^inbox\/dedup\.ts$/, "`dedup`"],
  [/^inbox\/worker\//, "worker"],
  // The handlers of both.
  [/^inbox\/handler\//, "receiver, worker"],
  [/^inbox\//, "receiver"],
  // A store tells them when it has given events their places.
  [/^lanes\/hold-signals\.ts$/, "store"],
  [/^lanes\/lane-loop\.ts$/, "dispatcher, worker"],
  [/^delivery\//, "dispatcher"],
  [/^repair\//, "repair"],
  [/^retention\//, "retention"],
  [/^operator\//, "operator, `reconcile`"],
  [/^stores\/(\w+\/dedup|redis)\//, "dedup adapter"],
  // A store makes it with its own observer.
  [/^outbox\/endpoint-secrets\.ts$/, "store"],
  // For both of them.
  [/^stores\/memory\/client\//, "store, dedup adapter"],
  [/^stores\//, "store"],
];

/** Tells everything that the receiver without an observer would have told: it speaks for others. */
const ECHO = "library/src/inbox/unobserved.ts";
/** Makes a signal for whoever tells it. */
const MADE = "library/src/store-failed.ts";

/** Every signal, with who says it: found where the code writes it. */
export function readSignals(files: ReadonlyMap<string, SourceFile>): readonly SignalEntry[] {
  const file = files.get(OBSERVER);
  if (file === undefined) throw new Error(`There is no ${OBSERVER}.`);
  return signalTypes(file).map((literal) => entryOf(file, literal, files));
}

function signalTypes({ program }: SourceFile): readonly TSTypeLiteral[] {
  for (const node of program.body) {
    if (node.type !== "ExportNamedDeclaration" || node.declaration?.type !== "TSTypeAliasDeclaration")
      continue;
    const { id, typeAnnotation } = node.declaration;
    if (id.name !== "Signal" || typeAnnotation.type !== "TSUnionType") continue;
    return typeAnnotation.types.filter((each): each is TSTypeLiteral => each.type === "TSTypeLiteral");
  }
  throw new Error(`${OBSERVER} has no union called Signal.`);
}

function entryOf(
  file: SourceFile,
  literal: TSTypeLiteral,
  files: ReadonlyMap<string, SourceFile>,
): SignalEntry {
  const { text, comments } = file;
  const [first, ...rest] = literal.members.map((member) => ({ member, ...field(text, member) }));
  const kind = /^"(\w+)"$/.exec(first?.type ?? "")?.[1];
  if (first === undefined || kind === undefined) throw new Error(`${OBSERVER} has a signal without a kind.`);
  return {
    kind,
    says: docBefore(text, comments, first.member.start)?.prose ?? "",
    fields: rest.map(({ name, type }) =>
      type === "string" ? `\`${name}\`` : `\`${name}\`: ${type.replaceAll(" | ", " or ")}`,
    ),
    heard: speakersOf(kind, files),
  };
}

function field(text: string, member: Node): { readonly name: string; readonly type: string } {
  const written = text.slice(member.start, member.end).replace(/;$/, "");
  const [, name = "", type = ""] = /^readonly (\w+)\??: ([^]*)$/.exec(written) ?? [];
  return { name, type };
}

function speakersOf(kind: string, files: ReadonlyMap<string, SourceFile>): readonly string[] {
  // A signal that many parts tell has a function of its own name, in a leaf: whoever calls that speaks.
  const maker = `${kind.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}(`;
  const writes = [...files.values()].filter(
    ({ path, text }) =>
      ![OBSERVER, ECHO, MADE].includes(path) &&
      !path.includes("/testing/") &&
      (text.includes(`kind: "${kind}"`) || text.includes(maker)),
  );
  const speakers = writes.flatMap(({ path }) => speakerAt(path.replace("library/src/", "")).split(", "));
  if (speakers.length === 0) throw new Error(`Nothing in the library says ${kind}.`);
  return [...new Set(speakers)].toSorted();
}

function speakerAt(path: string): string {
  const found = SPEAKERS.find(([fits]) => fits.test(path));
  if (found === undefined)
    throw new Error(`${path} writes a signal: say in SPEAKERS whose observer hears it.`);
  return found[1];
}

/** docs/signals.md. */
export function signalsPage(files: ReadonlyMap<string, SourceFile>): string {
  const signals = readSignals(files);
  const rows = signals.map(({ kind, says, fields, heard }) => {
    const cells = [`\`${kind}\``, says.replaceAll("\n", " "), fields.join(", "), heard.join(", ")];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return [
    INTRODUCTION,
    "",
    "| signal | says | besides `kind` | heard by the observer of |",
    "|---|---|---|---|",
    ...rows,
    "",
    HEARERS,
    "",
  ].join("\n");
}

const INTRODUCTION = `# Signals

An \`observer\` is a function that gets everything that Posthorn reports about itself, one value of the union \`Signal\` at a time,
synchronously and in order. Logs, metrics and traces are fed from it. No signal has a secret or a payload in it. An observer that
throws, or returns a promise that rejects, costs no event: its error goes to the console.

\`\`\`ts
// observe.ts
import type { Observer } from "posthorn";

export const observer: Observer = (signal) => {
  if (signal.kind === "signature_refused") console.warn(signal.scheme, signal.code, ...signal.diagnosis);
  if (signal.kind === "event_received" && signal.verdict === "failed") console.error(signal.id, signal.why);
  if (signal.kind === "delivery_dead") console.error(signal.endpoint, signal.id, signal.because);
};
\`\`\`

This page is printed from the source: the last column says where the code reports a signal. A field without a type is a text.`;

const HEARERS = `## Who hears which

Each part has an observer of its own, and hears what it does itself: \`createReceiver\`, \`createWorker\`, \`createDispatcher\`, \`createRepair\`, \`createRetention\`,
\`createOperator\`, \`reconcile\`, the stores (\`postgresStore\`, \`sqliteStore\`, \`memoryStore\`), the adapters of \`dedup\`, \`dedup\` itself, and verifiers. To hear everything, give one function
to each of them:

\`\`\`ts
// one-observer.ts
import pg from "pg";
import { createReceiver, createWorker } from "posthorn";
import { createDispatcher } from "posthorn/dispatch";
import { postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";
import { observer } from "./observe.js";

const store = postgresStore({ client: new pg.Pool(), observer });
export const dispatcher = createDispatcher({ store, observer });
export const worker = createWorker({ store, observer, handlers: { "invoice.paid": () => {} } });
export const receiver = createReceiver({
  store,
  observer,
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET, observer }) },
  handlers: {},
});
\`\`\`

- A verifier without an observer of its own, as a source of a receiver, speaks to the receiver's. \`secret_weak\` is said when the verifier
  is made, before there is a receiver: only the verifier's own observer hears it.
- A receiver or a worker without an observer says each kind of refusal and failure once on stderr, with the stack of a handler that threw, and
  which types it has no handler for, unless \`NODE_ENV\` is \`production\`. The other parts say nothing then; \`memoryStore\` in
  production warns on stderr.
- \`handler_log\` is what handlers write with \`context.logger\`.
- A sender has no observer: what it cannot publish, it throws. An operator throws too, and tells its observer what it did.
- The gateway listens to all of its parts, and turns what it hears into logs and metrics: [server.md](server.md#metrics). What people do there is in its
  audit log.`;
