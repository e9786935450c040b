import type { Receiver, ReceiverReply, Reply } from "../inbox/receiver.js";
import { sourceNames } from "../inbox/source-names.js";
import type { InboxErrorCode } from "../inbox/inbox-errors.js";
import { unknownOption } from "../known-options.js";
import { PosthornError } from "../posthorn-error.js";
import type { FrameworkErrorCode } from "./framework-errors.js";

/** The name of the source, or how to read it from a request (its path, say). */
export type SourceChoice<Request, Source extends string = string> = Source | ((request: Request) => string);

/** Refuses what is no receiver when it is mounted: each request would be answered with 500, and nobody would be told. */
export function checkMounted(receiver: unknown): void {
  if (typeof (Object(receiver) as { receive?: unknown }).receive === "function") return;
  throw invalid(
    `What is mounted is of type ${typeof receiver} and no receiver; expected what createReceiver makes. Files that import each other in a circle, or a missing await, leave something else.`,
  );
}

/** How an adapter is told the source of a request. */
export interface Door {
  /** As hosts call it. */
  readonly name: string;
  /** Where the source stands if no option names it; undefined: an option has to. */
  readonly otherwise?: string;
  /** Whether a function may read it from a request. */
  readonly byFunction: boolean;
}

/** Refuses options by which no request would find its source: without them, the first request would end the process, or each be answered with 404. */
export function checkDoor({ name, otherwise, byFunction }: Door, receiver: object, given: unknown): void {
  checkMounted(receiver);
  const expected = `expected { source: "${sourceNames(receiver)?.[0] ?? "stripe"}" }${byFunction ? ", or { source: (request) => … }" : ""}`;
  const hint = otherwise === undefined ? expected : `${expected}, or nothing: ${otherwise} names it then`;
  checkObject(name, given, { source: true }, `; ${hint}`);
  const { source } = given as { readonly source?: unknown };
  if (typeof source === "string") return checkSourceNamed(name, receiver, source);
  if (source === undefined ? otherwise !== undefined : byFunction && typeof source === "function") return;
  throw invalid(`source of ${name} is ${kindOf(source)}; ${hint}.`);
}

/** Refuses options that are none, and a name that is no option's. */
export function checkObject(name: string, given: unknown, known: Readonly<object>, hint = ""): void {
  if (typeof given !== "object" || given === null)
    throw invalid(`The options of ${name} are ${kindOf(given)}${hint}.`);
  const unknown = unknownOption(name, given, known);
  if (unknown !== undefined) throw invalid(unknown);
}

function checkSourceNamed(door: string, receiver: object, source: string): void {
  const names = sourceNames(receiver);
  if (names === undefined || names.includes(source)) return;
  const found = names.map((name) => JSON.stringify(name)).join(", ");
  throw invalid(
    `source of ${door} is ${JSON.stringify(source.slice(0, 80))}, which the receiver does not have; it has ${found}.`,
  );
}

/** Refuses options where there are none: passed over, a source that they name would be looked for in the path all the same. */
export function checkNoOptions(name: string, given: readonly unknown[]): void {
  if (given.every((each) => each === undefined)) return;
  throw invalid(`${name} takes a receiver and no options; the path of a request names its source.`);
}

function kindOf(value: unknown): string {
  return value === undefined ? "missing" : value === null ? "null" : `of type ${typeof value}`;
}

function invalid(message: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", message);
}

/** What an adapter could make of a request's body. */
export type BodyReading =
  | {
      readonly kind: "bytes";
      readonly bytes: Uint8Array;
      /** Why these may not be the bytes that were sent. It counts only if the signature does not fit them. */
      readonly doubt?: Doubt | undefined;
    }
  /** Not read to its end. */
  | { readonly kind: "too_large" }
  /** Somebody read it before, and the bytes are gone. */
  | { readonly kind: "consumed"; readonly cure: string }
  /** A parser read it, and only what it made of the body is left. */
  | { readonly kind: "parsed"; readonly cure: string }
  /** The connection broke while it came in. */
  | { readonly kind: "broken" };

/** A cause that looks like a wrong signature. */
export interface Doubt {
  readonly code: FrameworkErrorCode;
  readonly why: string;
}

/** The reply to a body that the receiver never gets to see, told to the observer. */
export function refuseBody(
  receiver: Receiver,
  source: string,
  reading: Exclude<BodyReading, { kind: "bytes" }>,
): Reply {
  switch (reading.kind) {
    case "too_large":
      return receiver.refuse(source, {
        status: 413,
        code: "body_too_large",
        why: `the body has more than ${receiver.maxBodyBytes(source)} bytes, the source's maxBodyBytes`,
      });
    case "consumed":
      // Ours to mend, so the sender must come again.
      return refuseAs(receiver, source, {
        code: "body_consumed",
        why: `the body was read before it came here, and signatures cover its exact bytes: ${reading.cure}`,
      });
    case "parsed":
      return refuseAs(receiver, source, {
        code: "body_parsed",
        why: `only the parsed body is left, and signatures cover its exact bytes: ${reading.cure}`,
      });
    case "broken":
      return receiver.refuse(source, {
        status: 400,
        code: "body_broken",
        why: "the connection broke before the body was complete",
      });
  }
}

/** Refuses for a reason that is ours to mend: the sender must come again. */
export function refuseAs(receiver: Receiver, source: string, { code, why }: Doubt): Reply {
  return receiver.refuse(source, { status: 500, code, why });
}

/**
 * The reply of the receiver, or, where a signature does not fit bytes that are in doubt, the cause of that. The signature
 * decides first: a text may have had replacement characters when it was signed.
 */
export function unlessDoubtful(
  receiver: Receiver,
  source: string,
  reading: Extract<BodyReading, { kind: "bytes" }>,
  reply: ReceiverReply,
): Reply {
  if (reply.status !== 401 || reading.doubt === undefined) return reply;
  return refuseAs(receiver, source, reading.doubt);
}

const REPLACEMENT = "\ufffd";

/** What may be wrong with bytes that were kept as text. */
export function doubtOfText(text: string, cure: string): Doubt | undefined {
  if (!text.includes(REPLACEMENT)) return undefined;
  const why = `the body came as text with replacement characters, so that bytes which are not UTF-8 are lost: ${cure}`;
  return { code: "body_text_only", why };
}

/** What may be wrong with bytes that are fewer than the sender announced. */
export function doubtOfLength(bytes: number, announced: string | null | undefined): Doubt | undefined {
  const said = /^\d{1,15}$/.test(announced ?? "") ? Number(announced) : bytes;
  if (bytes >= said) return undefined;
  const why =
    `${bytes} bytes of the body arrived, and content-length announced ${said}: something cut it off, ` +
    "such as the body limit of a proxy or of a middleware that clones requests (Next.js: proxyClientMaxBodySize)";
  return { code: "body_truncated", why };
}

/** The reply to a method that no webhook uses; undefined for POST. Not told to the observer: health checks come by GET. */
export function refusedMethod(method: string | undefined): Reply | undefined {
  return method === "POST" ? undefined : { status: 405, headers: { allow: "POST" } };
}

/** The reply to a mistake of ours or of the host's, such as a source that cannot be read from the request. */
export function refuseError(receiver: Receiver, error: unknown): Reply {
  const why = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
  return refuseAs(receiver, "unknown", { code: "host_failed", why });
}

/** The source that a request is for. */
export function sourceOf<Request>(choice: SourceChoice<Request>, request: Request): string {
  return typeof choice === "string" ? choice : choice(request);
}

/** The URL that was asked for, with an origin. Proxies may send the whole of it; else the name by which we were called counts. */
export function absoluteUrl(asked: string, protocol: "http" | "https", host: string | undefined): string {
  return /^https?:\/\//i.test(asked) ? asked : `${protocol}://${host ?? "localhost"}${asked}`;
}

/** Whether a reply of this status may have a body; a `Response` with one would throw, and a client would misread it. */
export function allowsBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
