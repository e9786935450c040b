/** Finds a pattern in a stream, also where chunks cut it in two. */
export class BytePattern {
  readonly #pattern: Buffer;
  #tail: Buffer = Buffer.alloc(0);

  constructor(pattern: string | Uint8Array) {
    this.#pattern = typeof pattern === "string" ? Buffer.from(pattern) : Buffer.from(pattern);
    if (this.#pattern.length === 0) throw new RangeError("An empty pattern is found everywhere.");
  }

  /** Whether the pattern ends in this chunk. */
  isIn(chunk: Uint8Array): boolean {
    const seen = Buffer.concat([this.#tail, chunk]);
    // One byte less than the pattern: it cannot be found again in the next chunk.
    this.#tail = Buffer.from(seen.subarray(Math.max(0, seen.length - this.#pattern.length + 1)));
    return seen.includes(this.#pattern);
  }
}
