import { PosthornError } from "../posthorn-error.js";
import type { ClientErrorCode } from "./client-errors.js";
import type { ClientSettings } from "./client-options.js";
import { answeredError } from "./problem.js";

/** One call of the API. */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parts of the path after /api/v1, as they are: they are escaped here. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  /** Whether a second request changes nothing that the first has done. */
  readonly repeatable: boolean;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;
const WORTH_REPEATING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Calls the API: one request, and again where that is safe and may help. */
export class Caller {
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  async json<T>(call: Call): Promise<T> {
    const response = await this.#answer(call);
    const body = await this.#read(response, () => response.json());
    if (typeof body !== "object" || body === null) throw answeredError(response.status, undefined);
    return body as T;
  }

  async bytes(call: Call): Promise<Uint8Array> {
    const response = await this.#answer(call);
    return new Uint8Array((await this.#read(response, () => response.arrayBuffer())) as ArrayBuffer);
  }

  /** An answer that goes on, as it comes; the caller ends it by the signal. Only its beginning has a time limit. */
  async stream(call: Call, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { clock, timeoutMs } = this.#settings;
    const begun = new AbortController();
    const late = AbortSignal.any([signal, begun.signal]);
    const ended = new AbortController();
    const endLate = async (): Promise<void> => {
      await clock.sleep(timeoutMs, late);
      if (!late.aborted) ended.abort(new DOMException("The answer did not begin.", "TimeoutError"));
    };
    const limit = endLate();
    try {
      const response = await this.#send(call, AbortSignal.any([signal, ended.signal])).catch(
        (error: unknown) => {
          throw unreachable(this.#settings, error);
        },
      );
      if (response.ok && response.body !== null) return response.body;
      throw answeredError(response.status, await response.json().catch(() => undefined));
    } finally {
      begun.abort();
      await limit;
    }
  }

  /** Waits before a stream is opened again. */
  pause(attempt: number, signal: AbortSignal): Promise<void> {
    return this.#settings.clock.sleep(waitMs(attempt, undefined), signal);
  }

  async nothing(call: Call): Promise<void> {
    const response = await this.#answer(call);
    await response.body?.cancel();
  }

  async #answer(call: Call): Promise<Response> {
    const { clock, retries } = this.#settings;
    for (let attempt = 1; ; attempt++) {
      const last = attempt > retries || !call.repeatable;
      const response = await this.#send(call).catch((error: unknown) => {
        if (last) throw unreachable(this.#settings, error);
        return undefined;
      });
      if (response?.ok === true) return response;
      if (response !== undefined && (last || !WORTH_REPEATING.has(response.status))) {
        throw answeredError(response.status, await response.json().catch(() => undefined));
      }
      await response?.body?.cancel();
      await clock.sleep(waitMs(attempt, response?.headers.get("retry-after")));
    }
  }

  #send(call: Call, signal?: AbortSignal): Promise<Response> {
    const { method, path, query = {}, body, idempotencyKey } = call;
    const { base, token, timeoutMs, ...settings } = this.#settings;
    const asked = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = asked.length === 0 ? "" : `?${new URLSearchParams(asked).toString()}`;
    // The server takes a write by session as JSON only, which no form of another page can send.
    const sent = body === undefined && token === undefined && method !== "GET" ? {} : body;
    return settings.fetch(`${base}/api/v1/${path.map(segment).join("/")}${search}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        accept: "application/json",
        ...(sent !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
      // Followed, a redirect would turn a POST into a GET, and the token might go to another server.
      redirect: "manual",
      signal: signal ?? AbortSignal.timeout(timeoutMs),
    });
  }

  async #read(response: Response, read: () => Promise<unknown>): Promise<unknown> {
    try {
      return await read();
    } catch (error) {
      // Valid headers and a body that is none: another program, where it was not the network.
      if (error instanceof SyntaxError) throw answeredError(response.status, undefined);
      throw unreachable(this.#settings, error);
    }
  }
}

/** A name of `.` or `..` would be read as a step in the path, even escaped. */
function segment(text: string): string {
  if (text === "." || text === "..") {
    throw new PosthornError<ClientErrorCode>("api_refused", `${JSON.stringify(text)} is no name or id.`);
  }
  return encodeURIComponent(text.toWellFormed());
}

function waitMs(attempt: number, retryAfter: string | null | undefined): number {
  const asked = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : 0;
  const own = FIRST_WAIT_MS * 4 ** (attempt - 1) * (0.8 + 0.4 * Math.random());
  return Math.min(LONGEST_WAIT_MS, Math.max(asked, own));
}

function unreachable({ base, timeoutMs }: ClientSettings, cause: unknown): PosthornError<ClientErrorCode> {
  const late = cause instanceof Error && cause.name === "TimeoutError";
  const why = late ? `did not answer within ${timeoutMs} ms` : `could not be reached (${reasonOf(cause)})`;
  return new PosthornError(
    "api_unreachable",
    `The server at ${base} ${why}. Does it run, and is the address right?`,
    {
      detail: { url: base, timeout: late },
      cause,
    },
  );
}

/** Node's fetch says "fetch failed", and what failed in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) {
    return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
  }
  return error.message;
}
