import type { Socket } from "node:net";
import { PROBLEMS } from "./problem.js";
import type { ProblemCode } from "./problem.js";
import { STRICT_HEADERS } from "./strict-headers.js";

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
