import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "posthorn";
import { tokenHash } from "./new-token.js";

/** How long a printed link can be used. */
export const CODE_MS = 10 * 60_000;

interface Code {
  readonly hash: Uint8Array;
  readonly untilMs: number;
}

/**
 * Codes that sign a browser in, once and soon. They live in this process alone: whoever reads its terminal while it starts
 * may operate it, and a link that was kept is worth nothing.
 */
export class SignInCodes {
  readonly #clock: Pick<Clock, "monotonic">;
  #codes: readonly Code[] = [];

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  make(): string {
    const code = randomBytes(18).toString("base64url");
    this.#codes = [...this.#codes, { hash: tokenHash(code), untilMs: this.#clock.monotonic() + CODE_MS }];
    return code;
  }

  /** Whether it was one that could be used. It cannot be used again. */
  redeem(code: string): boolean {
    const hash = tokenHash(code);
    const now = this.#clock.monotonic();
    const found = this.#codes.find((each) => timingSafeEqual(each.hash, hash));
    this.#codes = this.#codes.filter((each) => each !== found && each.untilMs > now);
    return found !== undefined && found.untilMs > now;
  }
}
