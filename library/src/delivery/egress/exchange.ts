import type { Clock } from "../../clock.js";
import { PosthornError } from "../../posthorn-error.js";
import type { DeliveryErrorCode } from "../delivery-errors.js";
import type { Route } from "./dial.js";
import type { EgressAnswer, OutgoingRequest, ReadingRequest } from "./egress.js";
import type { Outcome } from "../outcome.js";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What undici hands to the handler of a request. */
export interface Controller {
  abort(reason: Error): void;
}

/** Why a request was never written. */
export interface Unsent {
  readonly outcome: Extract<Outcome, { kind: "unreachable" | "forbidden" }>;
  readonly detail: string | undefined;
}

/** What owns the connections. */
export interface ExchangeHost<Slot> {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Where the exchange's connection leads, and what it took to open it; undefined where there is none. */
  routeOf?(exchange: Exchange<Slot>, startedAt: number): Route | undefined;
  /** Called at the deadline of an exchange of which nothing was sent. */
  onLate(exchange: Exchange<Slot>): void;
  /** Called once, when undici is done with the exchange. `failed`: its connection must not be used again. */
  onDone(exchange: Exchange<Slot>, failed: boolean): void;
}

const MAX_ANSWER_BYTES = 16_384;
// Early hints and the like: two or three are common. A receiver that sends more would hold the slot until the deadline.
const MAX_INTERIM = 16;

const TOO_LATE: Unsent = {
  outcome: { kind: "unreachable", reason: "connect" },
  detail: "not sent before the deadline",
};

/** One request and its answer, as a handler of undici. Its result is settled once, whatever comes later. */
export class Exchange<Slot> {
  /** Without a body it only reads. */
  readonly request: ReadingRequest & Partial<Pick<OutgoingRequest, "body">>;
  /** Set by the host, to find its slot again. A map from exchanges to slots kept megabytes of ended exchanges alive. */
  slot: Slot | undefined;
  readonly result: Promise<EgressAnswer>;
  readonly #host: ExchangeHost<Slot>;
  readonly #startedAt: number;
  readonly #capture: Capture;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #end = (): void => this.#expire();
  #resolve!: (answer: EgressAnswer) => void;
  #reject!: (error: Error) => void;
  #controller: Controller | undefined;
  #settled = false;
  #done = false;
  #interim = 0;
  #outcome: Outcome | undefined;
  #location: string | undefined;
  #firstByteMs: number | undefined;
  #headers: Headers = {};
  #cut = false;

  constructor(request: Exchange<Slot>["request"], host: ExchangeHost<Slot>) {
    this.request = request;
    this.#host = host;
    this.#startedAt = host.clock.monotonic();
    this.#capture = new Capture(request.maxAnswerBytes ?? MAX_ANSWER_BYTES);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // One timer from the name to the last byte: limits per step add up to a multiple of each.
    this.#timer = setTimeout(this.#end, Math.max(0, this.#leftMs()));
    request.signal?.addEventListener("abort", this.#end);
  }

  /** True once the first byte of the request may have left. */
  get sent(): boolean {
    return this.#controller !== undefined;
  }

  /** Of the answer, once there is one. */
  get headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(this.#headers).map(([name, value]) => [name.toLowerCase(), first(value) ?? ""]),
    );
  }

  /** True when the answer is not whole: more came than is kept, or it broke off. */
  get cut(): boolean {
    return this.#cut;
  }

  /** Ends a request that is not written yet; it never will be. */
  endUnsent({ outcome, detail }: Unsent): void {
    this.#settle(outcome, detail);
  }

  onRequestStart(controller: Controller): void {
    // undici hands a request out again when its connection went away under it: a second POST would be a second attempt.
    if (this.sent) this.#settle({ kind: "unknown", reason: "reset" });
    // In a process that was stopped, this runs before the timers: another process may have the lane by now.
    if (this.#leftMs() <= 0) this.endUnsent(TOO_LATE);
    if (this.#settled) controller.abort(new Error("not to be sent"));
    else this.#controller = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    this.#firstByteMs ??= this.#host.clock.monotonic() - this.#startedAt;
    if (status >= 200) {
      this.#outcome = this.#judge(status, headers);
      this.#headers = headers;
      if (status >= 300 && status < 400) this.#location = first(headers["location"]);
      return;
    }
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM) this.#break(`more than ${MAX_INTERIM} interim answers`);
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    if (this.#settled || this.#outcome === undefined || this.#capture.take(chunk)) return;
    this.#cut = true;
    this.#settle(this.#outcome);
    this.#abort();
  }

  onResponseEnd(): void {
    this.#settle(this.#outcome ?? { kind: "unknown", reason: "bad_answer" });
    this.#finish(false);
  }

  onResponseError(_controller: unknown, error: Error): void {
    const code = codeOf(error);
    const detail = code ?? error.message;
    this.#cut = true;
    // The status decides: a body that breaks off does not take the status back.
    if (this.sent) this.#settle(this.#outcome ?? { kind: "unknown", reason: brokenBy(error) }, detail);
    else if (CALLERS_FAULT.has(code ?? "") && this.#close()) this.#reject(invalidRequest(error));
    this.#finish(true);
    this.#settle({ kind: "unreachable", reason: "connect" }, detail);
  }

  #leftMs(): number {
    const { leftMs, deadlineMs } = this.request;
    if (leftMs !== undefined) return leftMs();
    return this.#startedAt + deadlineMs - this.#host.clock.monotonic();
  }

  #judge(status: number, headers: Headers): Outcome {
    if (status < 300) return { kind: "acknowledged", status };
    const text = first(headers["retry-after"]);
    if (text === undefined) return { kind: "refused", status };
    const now = this.#host.clock.now();
    // A date is compared with the receiver's clock where the answer has a date: our clock may be minutes off.
    const theirs = parseHttpDate(first(headers["date"]) ?? "", now);
    return { kind: "refused", status, retryAfterMs: parseRetryAfter(text, theirs ?? now) };
  }

  #expire(): void {
    if (!this.sent) return this.#host.onLate(this);
    this.#cut = true;
    // A status that has arrived still counts when the body drips past the deadline.
    this.#settle(this.#outcome ?? { kind: "unknown", reason: "timeout" });
    this.#abort();
  }

  #break(detail: string): void {
    this.#settle({ kind: "unknown", reason: "bad_answer" }, detail);
    this.#abort();
  }

  #abort(): void {
    this.#controller?.abort(new Error("the attempt has ended"));
  }

  #settle(outcome: Outcome, detail?: string): void {
    if (!this.#close()) return;
    const durationMs = this.#host.clock.monotonic() - this.#startedAt;
    const route = this.#host.routeOf?.(this, this.#startedAt);
    this.#resolve({
      outcome,
      answer: this.#capture.bytes(),
      durationMs,
      location: this.#location,
      detail,
      address: route?.address,
      timings: { ...route?.steps, firstByteMs: this.#firstByteMs, totalMs: durationMs },
    });
  }

  /** False when the exchange was closed before. */
  #close(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.request.signal?.removeEventListener("abort", this.#end);
    return true;
  }

  #finish(failed: boolean): void {
    if (this.#done) return;
    this.#done = true;
    this.#host.onDone(this, failed);
  }
}

/** The first bytes of a body. Copied: a slice would keep the whole buffer of the socket alive. */
class Capture {
  readonly #max: number;
  #buffer: Uint8Array | undefined;
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** False when part of the chunk was dropped. */
  take(chunk: Uint8Array): boolean {
    const wanted =
      chunk.length + this.#length > this.#max ? chunk.subarray(0, this.#max - this.#length) : chunk;
    if (wanted.length > 0) {
      this.#reserve(this.#length + wanted.length).set(wanted, this.#length);
      this.#length += wanted.length;
    }
    return wanted.length === chunk.length;
  }

  bytes(): Uint8Array | undefined {
    return this.#buffer?.subarray(0, this.#length);
  }

  /** Doubles the buffer: without that, a body that drips byte by byte would be copied thousands of times. */
  #reserve(length: number): Uint8Array {
    const old = this.#buffer;
    if (old !== undefined && old.length >= length) return old;
    const grown = new Uint8Array(
      old === undefined ? length : Math.min(this.#max, Math.max(length, 2 * old.length)),
    );
    if (old !== undefined) grown.set(old.subarray(0, this.#length));
    this.#buffer = grown;
    return grown;
  }
}

/** How a connection broke before a final status had come. */
function brokenBy(error: Error): "reset" | "bad_answer" {
  const code = codeOf(error) ?? "";
  // Compared by name: only some errors of the parser have a code.
  const isBad = error.name === "HTTPParserError" || BAD_ANSWER_CODES.has(code);
  return isBad || (code === "UND_ERR_SOCKET" && error.message.startsWith("bad ")) ? "bad_answer" : "reset";
}

const CALLERS_FAULT = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
]);

/** The request cannot be written: nothing was sent, and nothing will change that. */
export function invalidRequest(cause: Error): PosthornError<DeliveryErrorCode> {
  return new PosthornError(
    "egress_request_invalid",
    `The request cannot be written as HTTP: ${cause.message}.`,
    {
      cause,
    },
  );
}

const BAD_ANSWER_CODES = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
]);

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

function first(value: string | string[] | undefined): string | undefined {
  return typeof value === "object" ? value[0] : value;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = MONTHS.join("|");
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;

// The three forms of HTTP. `Date.parse` takes many more, and reads those without a zone in the zone of the machine.
const FORMS = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>${MONTH}) (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>${MONTH})-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>${MONTH}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Milliseconds to wait by a `Retry-After` header: seconds, or a date less `nowMs`; 0 for a date that has passed.
 * Undefined where the header is absent or is neither. Whoever uses it clamps it: a receiver may ask for a century.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const at = parseHttpDate(text, nowMs);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}

/** Milliseconds since 1970 of a date in one of HTTP's three forms; `nowMs` says the century of years of two digits. */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return instantOf(parts, nowMs);
  }
  return undefined;
}

function instantOf(parts: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const part = (name: string): number => Number(parts[name]);
  const [day, hour, minute] = [part("day"), part("hour"), part("minute")];
  // A leap second is the last second of its minute: `Date` knows none.
  const second = Math.min(part("second"), 59);
  if (part("second") > 60) return undefined;
  const month = MONTHS.indexOf(parts["month"] ?? "");
  const year = parts["year"]?.length === 2 ? fullYear(part("year"), nowMs) : part("year");
  const at = new Date(0);
  at.setUTCFullYear(year, month, day);
  at.setUTCHours(hour, minute, second);
  // 30 February would silently become 2 March.
  const same = at.getUTCDate() === day && at.getUTCHours() === hour && at.getUTCMinutes() === minute;
  return same ? at.getTime() : undefined;
}

/** RFC 9110: a year of two digits that seems more than 50 years ahead is the last past one with these digits. */
function fullYear(digits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}
