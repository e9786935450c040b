import type { Fetch } from "posthorn/client";
import { CommandFailure } from "../../terminal/failure.js";
import type { WrittenRequest } from "./written-request.js";

/** What a source answered. */
export interface Answered {
  readonly status: number;
  /** stored, duplicate or conflict. */
  readonly verdict: string | undefined;
  readonly event: string | undefined;
}

const DEADLINE_MS = 20_000;

/** Sends a request to the server's own ingest, as a provider would. */
export async function sendRequest(send: Fetch, request: WrittenRequest): Promise<Answered> {
  try {
    const response = await send(request.url, {
      method: request.method,
      headers: request.headers,
      body: new Uint8Array(request.body),
      redirect: "manual",
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    await response.body?.cancel();
    return {
      status: response.status,
      verdict: response.headers.get("posthorn-verdict") ?? undefined,
      event: response.headers.get("posthorn-event") ?? undefined,
    };
  } catch (error) {
    const { origin } = new URL(request.url);
    throw new CommandFailure(
      "unreachable",
      `The server at ${origin} could not be reached (${reasonOf(error)}).`,
      {
        cure: "Start a server with `posthorn serve`, or name its address with --url or POSTHORN_URL.",
        cause: error,
      },
    );
  }
}

/** Node's fetch says "fetch failed", and what failed in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return error.message;
}
