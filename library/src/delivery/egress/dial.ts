import type { LookupAddress } from "node:dns";
import type { LookupFunction, Socket } from "node:net";
import { BlockList, isIP } from "node:net";
import type { SecureContext } from "node:tls";
import type { AddressGuard } from "./address-guard.js";
import { systemClock } from "../../clock.js";
import type { AttemptTimings } from "../../lanes/attempt-record.js";
import type { Outcome } from "../outcome.js";
import { withoutContinue } from "./unasked-continue.js";
import type { UnaskedContinue } from "./unasked-continue.js";

/** What undici hands to the function that opens its connections. */
export interface ConnectOptions {
  readonly hostname: string;
  readonly host?: string;
  readonly protocol: string;
  readonly port: string;
  readonly servername?: string;
}

export type ConnectCallback = (error: Error | null, socket: Socket | null) => void;

/** undici's `buildConnector`. */
export type BuildConnector = (options: {
  readonly allowH2: false;
  readonly timeout: 0;
  readonly rejectUnauthorized: true;
  readonly lookup: LookupFunction;
  readonly secureContext: SecureContext;
  readonly session: Uint8Array | undefined;
}) => (options: ConnectOptions, callback: ConnectCallback) => unknown;

export interface DialParts {
  readonly guard: AddressGuard;
  readonly build: BuildConnector;
  readonly secureContext: SecureContext;
  /** TLS sessions by origin, which save half of a handshake. */
  readonly sessions: Map<string, Uint8Array>;
}

/** Why a connection could not be opened. Nothing was sent. */
export interface DialFailure {
  readonly outcome: Extract<Outcome, { kind: "unreachable" | "forbidden" }>;
  readonly detail: string;
}

/** Where a request went. */
export interface Route {
  readonly address: string | undefined;
  /** Empty where the connection stood before the request. */
  readonly steps: Pick<AttemptTimings, "dnsMs" | "connectMs" | "tlsMs">;
}

// Node tries the next address of a name after a quarter of a second without an answer.
const MAX_ADDRESSES = 16;
const MAX_SESSIONS = 1000;

/** One connection being opened: judged, pinned to the judged addresses, and judged again when it stands. */
export class Dial {
  readonly #parts: DialParts;
  readonly #options: ConnectOptions;
  readonly #startedAt: number = systemClock.monotonic();
  #stage: "dns" | "connect" | "tls" = "dns";
  #stageAt: number = this.#startedAt;
  #steps: Route["steps"] = {};
  #address: string | undefined;
  #callback: ConnectCallback | undefined;
  #socket: Socket | undefined;
  #failure: DialFailure | undefined;
  #filter: UnaskedContinue | undefined;

  constructor(parts: DialParts, options: ConnectOptions, callback: ConnectCallback) {
    this.#parts = parts;
    this.#options = options;
    this.#callback = callback;
    this.#start().catch((error: unknown) => this.#fail(this.#unreachable(error)));
  }

  get failure(): DialFailure | undefined {
    return this.#failure;
  }

  /** Where the connection leads, and what it took to open it, for the request that it was opened for. */
  routeSince(startedAt: number): Route {
    return { address: this.#address, steps: this.#startedAt >= startedAt ? this.#steps : {} };
  }

  /** A request is sent on this connection. */
  expectAnswer(): void {
    this.#filter?.expectAnswer();
  }

  /** Gives up; `failure` then says how far the connection had come. */
  abort(): void {
    this.#fail(this.#unreachable(new Error("not done before the deadline")));
  }

  async #start(): Promise<void> {
    const { guard } = this.#parts;
    // Literal addresses are judged here too: Node calls no lookup for them.
    const located = await guard.locate(this.#options.hostname);
    if (this.#callback === undefined) return;
    if ("kind" in located) {
      const { reason, message } = located;
      this.#fail({ outcome: { kind: "forbidden", reason }, detail: message });
    } else {
      this.#open(located.slice(0, MAX_ADDRESSES));
    }
  }

  #open(addresses: readonly string[]): void {
    const { build, secureContext, sessions } = this.#parts;
    const { protocol, host, hostname, port } = this.#options;
    const origin = `${protocol}//${host ?? hostname}:${port}`;
    const session = sessions.get(origin);
    const lookup = pinnedLookup(addresses);
    // Set explicitly: an environment variable can make Node accept every certificate.
    const certified = { rejectUnauthorized: true, secureContext, session } as const;
    const connect = build({ allowH2: false, timeout: 0, lookup, ...certified });
    this.#enter("connect");
    const isJudged = judgedBefore(addresses);
    const socket = connect(this.#options, (error, opened) => {
      if (error !== null || opened === null) this.#fail(this.#unreachable(error));
      else this.#finish(opened, isJudged);
    }) as Socket;
    this.#socket = socket;
    socket.once("connect", () => {
      // Before the handshake: a name in the clear is already too much for an address that nobody judged.
      if (isJudged(socket)) {
        this.#address = socket.remoteAddress;
        if (protocol === "https:") this.#enter("tls");
      } else this.#fail(this.#unreachable(new Error(UNJUDGED)));
    });
    socket.on("session", (fresh: Uint8Array) => keepSession(sessions, origin, fresh));
  }

  #finish(socket: Socket, isJudged: (socket: Socket) => boolean): void {
    if (!isJudged(socket)) return this.#fail(this.#unreachable(new Error(UNJUDGED)));
    const callback = this.#callback;
    this.#callback = undefined;
    this.#enter(undefined);
    this.#address = socket.remoteAddress;
    this.#filter = withoutContinue(socket);
    callback?.(null, socket);
  }

  /** Notes how long the stage took that ends here. */
  #enter(next: "connect" | "tls" | undefined): void {
    const now = systemClock.monotonic();
    this.#steps = { ...this.#steps, [`${this.#stage}Ms`]: now - this.#stageAt };
    this.#stageAt = now;
    if (next !== undefined) this.#stage = next;
  }

  #fail(failure: DialFailure): void {
    const callback = this.#callback;
    if (callback === undefined) return;
    this.#callback = undefined;
    this.#failure = failure;
    this.#socket?.destroy();
    // An error of our own: for some error codes undici would try again for ever, without asking the guard.
    callback(new Error(failure.detail), null);
  }

  #unreachable(error: unknown): DialFailure {
    const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
    return {
      outcome: { kind: "unreachable", reason: this.#stage },
      detail: typeof code === "string" ? code : String(message),
    };
  }
}

const UNJUDGED = "the connection leads to an address that was not judged";

/** Hands out the judged addresses, in the form that is asked for. The name is never resolved again. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const entries: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    if (all === true) return callback(null, entries);
    const [first] = entries;
    if (first === undefined) callback(new Error("no address"), "");
    else callback(null, first.address, first.family);
  };
}

/** BlockList compares addresses, not texts: `2001:DB8:0::1` is `2001:db8::1`. */
function judgedBefore(addresses: readonly string[]): (socket: Socket) => boolean {
  const judged = new BlockList();
  for (const address of addresses) judged.addAddress(address, isIP(address) === 4 ? "ipv4" : "ipv6");
  return ({ remoteAddress }) => {
    const family = isIP(remoteAddress ?? "");
    return (
      remoteAddress !== undefined &&
      family !== 0 &&
      judged.check(remoteAddress, family === 4 ? "ipv4" : "ipv6")
    );
  };
}

function keepSession(sessions: Map<string, Uint8Array>, origin: string, session: Uint8Array): void {
  if (sessions.size >= MAX_SESSIONS) sessions.clear();
  sessions.set(origin, session);
}
