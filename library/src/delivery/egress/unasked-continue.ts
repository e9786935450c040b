import type { Socket } from "node:net";

// `HTTP/1.1 100`: the first digit of the status.
const STATUS_AT = 9;
const HTTP = [0x48, 0x54, 0x54, 0x50, 0x2f] as const;
const ZERO = 0x30;
const ONE = 0x31;
const END_OF_HEAD = [13, 10, 13, 10] as const;
// As many as an exchange takes of other interim answers; and no head of one is as long as this.
const MAX_DROPPED = 16;
const MAX_HEAD_BYTES = 16_384;
const NOTHING = new Uint8Array(0);

/**
 * Takes `100 Continue` out of what a server sends, where nobody asked for it: the answer after it is the one that counts.
 * HTTP allows it, some servers and proxies do it, and undici ends the connection at it, so that an event that was taken
 * would be sent again. Everything else passes as it is.
 */
export class UnaskedContinue {
  #atHead = true;
  #held: Uint8Array = NOTHING;
  #dropped = 0;

  /** A request is sent: what comes next is the head of an answer. */
  expectAnswer(): void {
    this.#atHead = true;
    this.#dropped = 0;
  }

  /** What of these bytes is to be read; nothing where the head of an interim answer is not complete. */
  pass(chunk: Uint8Array): Uint8Array {
    if (!this.#atHead) return chunk;
    let rest = joined(this.#held, chunk);
    this.#held = NOTHING;
    let passed: Uint8Array = NOTHING;
    while (rest.length > 0) {
      const end = headLength(rest);
      if (end === "incomplete") {
        this.#held = rest;
        return passed;
      }
      // The final answer, another protocol, or a head without end: undici judges these.
      if (end === "other") break;
      const head = rest.subarray(0, end);
      rest = rest.subarray(end);
      if (!isContinue(head) || ++this.#dropped > MAX_DROPPED) passed = joined(passed, head);
    }
    if (rest.length > 0) this.#atHead = false;
    return joined(passed, rest);
  }
}

/** How long the head of an interim answer is, where these bytes begin with one. */
function headLength(bytes: Uint8Array): number | "incomplete" | "other" {
  if (HTTP.some((byte, at) => at < bytes.length && bytes[at] !== byte)) return "other";
  if (bytes.length <= STATUS_AT + 2) return "incomplete";
  if (!isInterim(bytes)) return "other";
  for (let at = STATUS_AT; at + 4 <= bytes.length; at++) {
    if (END_OF_HEAD.every((byte, index) => bytes[at + index] === byte)) return at + 4;
  }
  return bytes.length > MAX_HEAD_BYTES ? "other" : "incomplete";
}

// 101 is no interim answer: from there on it is another protocol.
function isInterim(head: Uint8Array): boolean {
  return head[STATUS_AT] === ONE && !(head[STATUS_AT + 1] === ZERO && head[STATUS_AT + 2] === ONE);
}

function isContinue(head: Uint8Array): boolean {
  return head[STATUS_AT] === ONE && head[STATUS_AT + 1] === ZERO && head[STATUS_AT + 2] === ZERO;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Lets a connection's reader see all but what is taken out. */
export function withoutContinue(socket: Pick<Socket, "read">): UnaskedContinue {
  const filter = new UnaskedContinue();
  const read = socket.read.bind(socket) as () => Buffer | null;
  socket.read = (): Buffer | null => {
    for (let chunk = read(); chunk !== null; chunk = read()) {
      const passed = filter.pass(chunk);
      if (passed.length > 0) return Buffer.from(passed.buffer, passed.byteOffset, passed.length);
    }
    return null;
  };
  return filter;
}
