import { constants, X509Certificate } from "node:crypto";
import { createSecureContext, rootCertificates } from "node:tls";
import type { SecureContext } from "node:tls";
import type * as Undici from "undici";
import { systemClock } from "../../clock.js";
import { PosthornError } from "../../posthorn-error.js";
import { createAddressGuard } from "./address-guard.js";
import type { AddressGuard, AddressGuardOptions, AllowedUrl, Forbidden } from "./address-guard.js";
import type { DeliveryErrorCode } from "../delivery-errors.js";
import type { BuildConnector, DialParts } from "./dial.js";
import { invalidRequest } from "./exchange.js";
import type { Connection, PoolParts } from "./pool.js";
import { OriginPool } from "./pool.js";
import type {
  EgressAnswer,
  OutgoingRequest,
  ReadingAnswer,
  ReadingEgress,
  ReadingRequest,
} from "./egress.js";

/** What an egress is made of: the settings of its address guard, and of its connections. */
export interface EgressOptions extends AddressGuardOptions {
  /** An address guard that is shared with other code; the options above are then set on that guard. */
  readonly guard?: AddressGuard;
  /** Certificate authorities (PEM) that are trusted besides those that Node ships. Nothing turns the check off. */
  readonly ca?: readonly string[];
  /** Connections to one origin at once; further requests wait, and their deadline runs. @default 256 */
  readonly maxConnections?: number;
  /** How long a connection without requests stays open, where the receiver names no time. @default 4,000 */
  readonly keepAliveMs?: number;
  /** Most bytes of an answer's headers. @default 16,384 */
  readonly maxHeaderBytes?: number;
}

type Settings = Required<
  Pick<EgressOptions, "guard" | "ca" | "maxConnections" | "keepAliveMs" | "maxHeaderBytes">
>;

/** Opens the guarded way out of the process. Throws `undici_missing` where that package is not installed. */
export async function createEgress(options: EgressOptions = {}): Promise<ReadingEgress> {
  const settings = checkOptions(options);
  return new GuardedEgress(settings, await loadUndici());
}

// Without this limit, the connections of a receiver that says `keep-alive: timeout=86400` would stay open for a day.
const LONGEST_KEEP_ALIVE_MS = 60_000;
const MAX_VERDICTS = 1000;
const LONGEST_TIMER_MS = 2_147_483_647;

class GuardedEgress implements ReadingEgress {
  readonly #guard: AddressGuard;
  readonly #parts: PoolParts;
  readonly #pools = new Map<string, OriginPool>();
  readonly #verdicts = new Map<string, AllowedUrl | Forbidden>();
  #closed: Promise<void> | undefined;

  constructor(settings: Settings, undici: typeof Undici) {
    this.#guard = settings.guard;
    this.#parts = {
      clock: systemClock,
      dial: dialParts(settings, undici),
      maxConnections: settings.maxConnections,
      open: (origin, connect) => openClient(undici, origin, { settings, connect }),
      onEmpty: (origin) => void this.#pools.delete(origin),
    };
  }

  // Not `async`: that would wrap the promise of each request in a second one.
  post(request: OutgoingRequest): Promise<EgressAnswer> {
    const refused = this.#refusalOf(request);
    if (refused !== undefined) return Promise.reject(refused);
    const verdict = this.#admit(request);
    if (!("origin" in verdict)) return Promise.resolve(verdict);
    return this.#poolOf(verdict.origin).post(request, verdict);
  }

  get(request: ReadingRequest): Promise<ReadingAnswer> {
    const refused = this.#refusalOf(request);
    if (refused !== undefined) return Promise.reject(refused);
    const verdict = this.#admit(request);
    if (!("origin" in verdict)) return Promise.resolve({ ...verdict, headers: {}, cut: false });
    return this.#poolOf(verdict.origin).get(request, verdict);
  }

  /** Where a request may go, or the answer to one that may not. */
  #admit({ url, signal }: ReadingRequest): AllowedUrl | EgressAnswer {
    // Judged before each request: the URL may have been stored while a setting allowed it that is now gone.
    const verdict = this.#judge(url);
    if (verdict.kind === "forbidden") return refusal(verdict);
    return signal?.aborted === true ? NOT_BEGUN : verdict;
  }

  #refusalOf(request: ReadingRequest): Error | undefined {
    if (this.#closed === undefined) return faultOf(request);
    return failure("egress_closed", "This egress is closed; create another one.");
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all([...this.#pools.values()].map((pool) => pool.close())).then(() => undefined);
    return this.#closed;
  }

  #poolOf(origin: string): OriginPool {
    const known = this.#pools.get(origin);
    if (known !== undefined) return known;
    const pool = new OriginPool(origin, this.#parts);
    this.#pools.set(origin, pool);
    return pool;
  }

  /** Kept: a guard never changes its verdict on a URL, and parsing a URL costs a tenth of a request. */
  #judge(url: string): AllowedUrl | Forbidden {
    const known = this.#verdicts.get(url);
    if (known !== undefined) return known;
    const verdict = this.#guard.judgeUrl(url);
    if (this.#verdicts.size >= MAX_VERDICTS) this.#verdicts.clear();
    this.#verdicts.set(url, verdict);
    return verdict;
  }
}

const NOT_BEGUN: EgressAnswer = Object.freeze({
  outcome: Object.freeze({ kind: "unreachable", reason: "connect" }),
  answer: undefined,
  durationMs: 0,
  detail: "ended before it began",
});

function refusal({ reason, message }: Forbidden): EgressAnswer {
  return { outcome: { kind: "forbidden", reason }, answer: undefined, durationMs: 0, detail: message };
}

function faultOf({ deadlineMs, headers }: ReadingRequest): Error | undefined {
  if (!(deadlineMs > 0 && deadlineMs <= LONGEST_TIMER_MS)) {
    return invalidRequest(new Error(`its deadlineMs is ${String(deadlineMs)}`));
  }
  // A `host` header would name another server than the one that was judged, to the receiver and to TLS.
  for (const name in headers) {
    if (name.length === 4 && name.toLowerCase() === "host")
      return invalidRequest(new Error("it has a host header"));
  }
  return undefined;
}

function openClient(
  undici: typeof Undici,
  origin: string,
  { settings, connect }: { settings: Settings; connect: Parameters<PoolParts["open"]>[1] },
): Connection {
  const { keepAliveMs, maxHeaderBytes } = settings;
  return new undici.Client(origin, {
    connect: connect as Undici.buildConnector.connector,
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: Math.max(keepAliveMs, LONGEST_KEEP_ALIVE_MS),
    // No timeouts of undici's: the deadline of the attempt covers headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function dialParts({ guard, ca }: Settings, undici: typeof Undici): DialParts {
  const build = undici.buildConnector as unknown as BuildConnector;
  return { guard, build, secureContext: secureContextOf(ca), sessions: new Map() };
}

/** Made once: reading all certificate authorities takes milliseconds, for each connection. */
function secureContextOf(ca: readonly string[]): SecureContext {
  for (const pem of ca) checkCertificate(pem);
  const trusted = ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] };
  // Without renegotiation: the certificate that was checked stays the one that we talk to.
  return createSecureContext({ ...trusted, secureOptions: constants.SSL_OP_NO_RENEGOTIATION });
}

/** Node skips what it cannot read, and every handshake would then fail for no reason that anybody sees. */
function checkCertificate(pem: string): void {
  try {
    void new X509Certificate(pem);
  } catch (cause) {
    throw failure(
      "egress_option_invalid",
      "The egress cannot be made: ca has an entry that is no PEM.",
      cause,
    );
  }
}

function checkOptions(options: EgressOptions): Settings {
  const {
    guard,
    ca = [],
    maxConnections = 256,
    keepAliveMs = 4000,
    maxHeaderBytes = 16_384,
    ...rest
  } = options;
  for (const [name, value] of Object.entries({ maxConnections, keepAliveMs, maxHeaderBytes })) {
    if (Number.isInteger(value) && value >= 1 && value <= LONGEST_TIMER_MS) continue;
    throw failure(
      "egress_option_invalid",
      `The egress cannot be made: ${name} is ${String(value)}; expected a whole number of at least 1.`,
    );
  }
  return Object.freeze({
    guard: guard ?? createAddressGuard(rest),
    ca,
    maxConnections,
    keepAliveMs,
    maxHeaderBytes,
  });
}

// Imported here and not at the top: without the optional peer the whole door would fail with an error of Node's.
async function loadUndici(): Promise<typeof Undici> {
  try {
    return await import("undici");
  } catch (cause) {
    throw failure(
      "undici_missing",
      "The package undici sends the requests and could not be loaded: npm install undici@7",
      cause,
    );
  }
}

function failure(
  code: DeliveryErrorCode,
  message: string,
  cause?: unknown,
): PosthornError<DeliveryErrorCode> {
  return new PosthornError(code, message, cause === undefined ? {} : { cause });
}
