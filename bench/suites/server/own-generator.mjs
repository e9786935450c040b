// Stands in for wrk: replays the requests of a file over plain sockets, and prints the same line at its end. Not
// TypeScript: what compiles that as it is loaded would take time that is measured.
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const { url, file, connections, forMs, repeats } = JSON.parse(process.argv[2] ?? "{}");
const { hostname, port } = new URL(url);
const requests = readFileSync(file.path);
const told = { requests: 0, elapsedUs: 0, refused: 0, broken: 0, exhausted: false };
const latencies = new Map();
let position = 0;

function nextRequest() {
  if (position >= requests.length) {
    told.exhausted ||= !repeats;
    position = 0;
  }
  const next = requests.subarray(position, position + file.requestBytes);
  position += file.requestBytes;
  return next;
}

const startedAt = performance.now();
const endsAt = startedAt + forMs;
const END = Buffer.from("\r\n\r\n");

/** One connection, one request at a time. */
function keepSending() {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let sentAt = 0;
    let answer = Buffer.alloc(0);
    const send = () => {
      sentAt = performance.now();
      socket.write(nextRequest());
    };
    socket.once("connect", send);
    socket.on("data", (chunk) => {
      answer = answer.length === 0 ? chunk : Buffer.concat([answer, chunk]);
      const end = answer.indexOf(END);
      if (end < 0) return;
      const head = answer.toString("latin1", 0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (answer.length < end + END.length + length) return;
      answer = Buffer.alloc(0);
      const us = Math.round((performance.now() - sentAt) * 1000);
      latencies.set(us, (latencies.get(us) ?? 0) + 1);
      told.requests += 1;
      if (!/^HTTP\/1\.1 2\d\d/.test(head)) told.refused += 1;
      if (performance.now() < endsAt) send();
      else socket.end();
    });
    socket.once("error", () => (told.broken += 1));
    socket.once("close", resolve);
  });
}

await Promise.all(Array.from({ length: connections }, keepSending));
told.elapsedUs = Math.round((performance.now() - startedAt) * 1000);
process.stdout.write(`${JSON.stringify({ ...told, latencies: [...latencies] })}\n`);
