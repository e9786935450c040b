import { once } from "node:events";
import type { Socket } from "node:net";

/** After how many further bytes a stream breaks off, and how. */
export interface BreakOff {
  readonly bytes: number;
  /** `reset`: both ends see an error. `end`: the reader sees an ordinary end, as if that had been all. */
  readonly by: "reset" | "end";
}

/** What is wrong with one direction of a connection. */
export interface PipeFaults {
  readonly latencyMs: number;
  /** Nothing passes; what was sent arrives when this ends, as after a healed network. */
  readonly held: boolean;
  readonly bytesPerSecond: number;
  readonly breakOff: BreakOff | undefined;
}

export interface PipeParts {
  readonly from: Socket;
  readonly to: Socket;
  /** Sees what is about to be passed on; false = it vanishes. */
  readonly pass: (chunk: Buffer) => boolean;
  /** Resets the whole connection. */
  readonly reset: () => void;
}

// A stalled direction must push back on its sender, as a real one does, and not fill the memory.
const MOST_HELD_BYTES = 256 * 1024;
const DRIP_MS = 20;
// A reset that arrives together with the last bytes is taken for an ordinary end by some readers, or loses them.
const BEFORE_RESET_MS = 10;

/** One direction of a connection, passed on chunk by chunk through whatever is wrong with it. */
export class FaultPipe {
  readonly #parts: PipeParts;
  readonly #queue: { chunk: Buffer; readonly arrivedAt: number }[] = [];
  #faults: PipeFaults;
  #left: number;
  #heldBytes = 0;
  #ended = false;
  #broken = false;
  #wake: () => void = () => undefined;

  constructor(parts: PipeParts, faults: PipeFaults) {
    this.#parts = parts;
    this.#faults = faults;
    this.#left = faults.breakOff?.bytes ?? Infinity;
    const { from } = parts;
    from.on("data", (chunk: Buffer) => this.#hold(chunk));
    from.on("end", () => {
      this.#ended = true;
      this.#wake();
    });
    from.on("close", () => this.#wake());
    parts.to.on("close", () => this.#wake());
    void this.#run();
  }

  /** Changes what is wrong, also for what is on its way. Bytes until a break-off are counted from here. */
  set(faults: PipeFaults): void {
    this.#faults = faults;
    this.#left = faults.breakOff?.bytes ?? Infinity;
    this.#wake();
  }

  /** Ends this direction after what has arrived; what comes later vanishes. */
  breakOff(): void {
    this.#left = 0;
    this.#faults = { ...this.#faults, breakOff: { bytes: 0, by: "end" } };
    this.#wake();
  }

  #hold(chunk: Buffer): void {
    if (this.#broken) return;
    this.#queue.push({ chunk, arrivedAt: performance.now() });
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > MOST_HELD_BYTES) this.#parts.from.pause();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { to } = this.#parts;
    while (!to.destroyed && !this.#broken) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) await this.#sleep(waitMs);
      else if (this.#left <= 0) await this.#break();
      else if (this.#queue.length > 0) await this.#passOn();
      else {
        to.end();
        return;
      }
    }
  }

  /** How long until there is something to do; `Infinity` until woken. */
  #waitMs(): number {
    const { latencyMs, held, breakOff } = this.#faults;
    if (held) return Infinity;
    if (breakOff !== undefined && this.#left <= 0) return 0;
    const [first] = this.#queue;
    if (first === undefined) return this.#ended ? 0 : Infinity;
    return Math.max(0, first.arrivedAt + latencyMs - performance.now());
  }

  async #passOn(): Promise<void> {
    const { from, to, pass } = this.#parts;
    const [first] = this.#queue;
    if (first === undefined) return;
    const { bytesPerSecond } = this.#faults;
    const drop = Math.max(1, Math.floor((bytesPerSecond * DRIP_MS) / 1000));
    const length = Math.min(first.chunk.length, this.#left, drop);
    const chunk = first.chunk.subarray(0, length);
    first.chunk = first.chunk.subarray(length);
    if (first.chunk.length === 0) this.#queue.shift();
    this.#heldBytes -= length;
    this.#left -= length;
    if (this.#heldBytes <= MOST_HELD_BYTES) from.resume();
    if (pass(chunk) && !to.destroyed && !to.write(chunk)) await drained(to);
    if (length === drop) await this.#sleep((length * 1000) / bytesPerSecond);
  }

  async #break(): Promise<void> {
    this.#broken = true;
    this.#queue.length = 0;
    // Read on and lose it: a reader that stopped would push back, which a closed peer does not.
    this.#parts.from.resume();
    if (this.#faults.breakOff?.by === "end") return void this.#parts.to.end();
    await this.#sleep(BEFORE_RESET_MS);
    this.#parts.reset();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(() => this.#wake(), ms) : undefined;
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        resolve();
      };
    });
  }
}

async function drained(socket: Socket): Promise<void> {
  const stop = new AbortController();
  const either = ["drain", "close"].map((event) => once(socket, event, { signal: stop.signal }));
  await Promise.race(either).catch(() => undefined);
  stop.abort();
  await Promise.allSettled(either);
}
