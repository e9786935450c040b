// Replays the requests of a file over plain sockets: as fast as they are answered, in place of wrk, whose last line it
// prints too; or so many in a second, whatever happens, until enough seconds of that were quiet.
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { constants, setPriority } from "node:os";
import { CountedTime } from "./counted-time.js";
import type { Replay } from "./generator.js";

const {
  url,
  file,
  connections,
  forMs,
  atMostMs = forMs,
  repeats,
  perSecond,
} = JSON.parse(process.argv[2] ?? "{}") as Replay;
const { hostname, port } = new URL(url);
const requests = readFileSync(file.path);
const told = { refused: 0, broken: 0, exhausted: false, hurried: true };
const END = Buffer.from("\r\n\r\n");
let position = 0;

function nextRequest(): Buffer {
  if (position >= requests.length) {
    told.exhausted ||= !repeats;
    position = 0;
  }
  const next = requests.subarray(position, position + file.requestBytes);
  position += file.requestBytes;
  return next;
}

/** One connection with one request at a time; says when it is free again. */
class Line {
  readonly closed: Promise<void>;
  readonly #socket = connect({ host: hostname, port: Number(port), noDelay: true });
  #dueAt = 0;
  #answer: Buffer = Buffer.alloc(0);
  readonly #onFree: (line: Line) => void;

  constructor(onFree: (line: Line) => void) {
    this.#onFree = onFree;
    this.closed = new Promise((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.once("connect", () => onFree(this));
    this.#socket.once("error", () => (told.broken += 1));
    this.#socket.on("data", (chunk) => this.#read(chunk));
  }

  /** The time of a request that had to wait for a free line counts from when it was due. */
  send(dueAt: number): void {
    this.#dueAt = dueAt;
    this.#socket.write(nextRequest());
  }

  end(): void {
    this.#socket.end();
  }

  #read(chunk: Buffer): void {
    this.#answer = this.#answer.length === 0 ? chunk : Buffer.concat([this.#answer, chunk]);
    const end = this.#answer.indexOf(END);
    if (end < 0) return;
    const head = this.#answer.toString("latin1", 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#answer.length < end + END.length + length) return;
    this.#answer = Buffer.alloc(0);
    time.record(this.#dueAt, performance.now());
    if (!/^HTTP\/1\.1 2\d\d/.test(head)) told.refused += 1;
    this.#onFree(this);
  }
}

// It shares a core with others, V8's helpers of its own among them, each of which may run for ten milliseconds before this
// thread comes on again: that would be taken for the server's delay. The helpers are there already, and stay what they are.
try {
  setPriority(constants.priority.PRIORITY_HIGHEST);
} catch {
  told.hurried = false;
}

// At a rate, a hundredth of the requests decides, and as many are due in the first tenth of a second: what is sent while
// lines are opened and code is compiled is not counted. Nor is what a server that had no healthy request for a minute takes
// until it is at work again: healthy traffic does not pause while slow sockets come.
const LEAD_IN_MS = perSecond === undefined ? 0 : 10_000;
const startedAt = performance.now();
const time = new CountedTime({ fromMs: startedAt + LEAD_IN_MS, forMs, atMostMs });

/** Each line sends again as soon as it is answered. */
function closedLoop(line: Line): void {
  const now = performance.now();
  if (time.isOver(now)) line.end();
  else line.send(now);
}

const free: Line[] = [];
/** For each request that is due, when that was noticed. */
const dueSince: number[] = [];
let due = 0;

/**
 * Sends what is due by now, as far as there are lines; each in its turn, for a line without a request is soon closed. To
 * wait for a line is the server's delay. To wait for the processor before it was even noticed is not.
 */
function sendDue(rate: number): void {
  const now = performance.now();
  const over = time.isOver(now);
  const wanted = over ? due : Math.floor(((now - startedAt) * rate) / 1000);
  for (; due < wanted; due++) dueSince.push(now);
  while (dueSince.length > 0 && free.length > 0) free.shift()?.send(dueSince.shift() ?? now);
  if (!over || dueSince.length > 0) return;
  for (const line of free.splice(0)) line.end();
}

const onFree =
  perSecond === undefined
    ? closedLoop
    : (line: Line): void => {
        free.push(line);
        sendDue(perSecond);
      };
const lines = Array.from({ length: connections }, () => new Line(onFree));
const ticking = perSecond === undefined ? undefined : setInterval(() => sendDue(perSecond), 1);
await Promise.all(lines.map(({ closed }) => closed));
clearInterval(ticking);
process.stdout.write(`${JSON.stringify({ ...told, ...time.counted() })}\n`);
