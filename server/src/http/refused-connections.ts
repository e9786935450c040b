import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { PROBLEMS } from "./problem.js";
import type { ProblemCode } from "./problem.js";
import { STRICT_HEADERS } from "./strict-headers.js";

// How the server ends the connection of a refused caller, which may still be sending. A socket that is closed with bytes
// unread is reset, and the reset takes back the answer that was just sent.

/** How long a refused caller may go on with a body that nobody will read. */
const LINGER_MS = 1000;

/** Ends the connection of a refused request, unless the rest of its body comes within a second. */
export function hangUpSoon(request: IncomingMessage): void {
  const { "content-length": length = "0", "transfer-encoding": chunked } = request.headers;
  if (request.complete || (chunked === undefined && Number(length) === 0)) return;
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  timer.unref();
  const stop = (): void => clearTimeout(timer);
  request.once("end", stop).once("close", stop);
}

/**
 * Answers a request whose body was not read, half-closes at once and drains what still comes for at most a second.
 * `head` is a list of names and values in turn.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  { status, head }: { readonly status: number; readonly head: readonly string[] },
): void {
  closeInHalves(request);
  response.writeHead(status, [...head, "content-length", "0", "connection", "close"]);
  response.end();
}

// Node destroys the socket once its last answer is written. Here our half is closed first: a sender that reads sees the
// end at once and stops, so that little of its body is left to drain.
function closeInHalves(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  socket.destroySoon = () => {
    // From now on the socket's own is found again.
    Reflect.deleteProperty(socket, "destroySoon");
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once("close", () => {
      clearTimeout(timer);
      socket.destroySoon();
    });
  };
}

/** What Node says of bytes that are no complete request. Everything else is `request_malformed`. */
const RAW_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
  HPE_HEADER_OVERFLOW: "headers_too_large",
};

/** Answers bytes that could not be read as a request, and closes: whatever follows on the connection is no request. */
export function refuseRaw({ code = "" }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === "ECONNRESET" || socket.destroyed) return;
  if (socket.writable && socket.bytesWritten === 0)
    socket.write(rawProblem(RAW_PROBLEMS[code] ?? "request_malformed"));
  socket.destroySoon();
}

function rawProblem(code: ProblemCode): string {
  const { status, title } = PROBLEMS[code];
  const body = JSON.stringify({ type: `urn:posthorn:problem:${code}`, title, status, detail: title, code });
  const headers = {
    ...STRICT_HEADERS,
    "content-type": "application/problem+json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${code}\r\n${lines.join("")}\r\n${body}`;
}
