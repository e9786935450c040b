import type { Socket } from "node:net";

const STEP_MS = 10;
// A thousand at once are ended within eight seconds, and ten thousand within seventeen.
const SHARE_OF_STEP = 1 / 400;

/**
 * Ends connections whose time is over, a few at a time. Whoever opens thousands of slow ones at one moment would have
 * them ended at one moment, only to open them again: everybody else would wait for as long as that takes.
 *
 * A request that is complete before its turn comes is handled; if it has no answer by then, it is told that it was late,
 * and comes again.
 */
export class LateConnections {
  readonly #end: (socket: Socket) => void;
  #waiting: Socket[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(end: (socket: Socket) => void) {
    this.#end = end;
  }

  add(socket: Socket): void {
    this.#waiting.push(socket);
    if (this.#closed) this.#endSome(1);
    else if (this.#timer === undefined) this.#step();
  }

  /** Ends all that wait; those that come later are ended at once. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#endSome(1);
  }

  #step(): void {
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    this.#endSome(SHARE_OF_STEP);
    // Even if none is left: the next one may come in the same moment.
    this.#timer = setTimeout(() => this.#step(), STEP_MS).unref();
  }

  #endSome(share: number): void {
    for (const socket of this.#waiting.splice(0, Math.ceil(this.#waiting.length * share))) this.#end(socket);
  }
}
