import type { Socket } from "node:net";
import { LateConnections } from "./late-connections.js";
import { PROBLEMS } from "./problem.js";
import type { ProblemCode } from "./problem.js";
import { STRICT_HEADERS } from "./strict-headers.js";

const TIMEOUT = "ERR_HTTP_REQUEST_TIMEOUT";
const TOO_LARGE = "HPE_HEADER_OVERFLOW";

/** Answers what could not be read as a request at all, and closes: whatever follows on the connection is no request. */
export function rawErrorHandler(
  late: LateConnections,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return ({ code }, socket) => {
    if (code === "ECONNRESET") return;
    if (code === TIMEOUT) late.add(socket);
    else refuse(socket, code === TOO_LARGE ? "headers_too_large" : "request_malformed");
  };
}

/** Ends those whose time is over. */
export function lateConnections(): LateConnections {
  return new LateConnections((socket) => refuse(socket, "request_timeout"));
}

function refuse(socket: Socket, code: ProblemCode): void {
  if (socket.destroyed) return;
  if (socket.writable && socket.bytesWritten === 0) socket.write(rawProblem(code));
  socket.destroySoon();
}

// Written once: whoever opens thousands of slow connections is told by the thousand.
const written = new Map<ProblemCode, string>();

function rawProblem(code: ProblemCode): string {
  const known = written.get(code) ?? writeProblem(code);
  written.set(code, known);
  return known;
}

function writeProblem(code: ProblemCode): string {
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
