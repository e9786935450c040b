import type { AddressGuard } from "posthorn/dispatch";
import type { ServerParts } from "../parts.js";
import type { SessionCheck } from "./auth/session-check.js";
import type { SignInCodes } from "./auth/sign-in-codes.js";
import type { TokenCheck } from "./auth/token-check.js";

/** What the routes of the API use. */
export interface ApiParts extends ServerParts {
  readonly tokens: TokenCheck;
  readonly sessions: SessionCheck;
  readonly codes: SignInCodes;
  /** The egress's own rules: an address that it would refuse later is refused when the endpoint is written. */
  readonly guard: Pick<AddressGuard, "judgeUrl">;
  /** Call it after adding, changing or removing a source; resolves when ingest on this node has read the change. */
  sourcesChanged(): Promise<void>;
  /** Call it after starting an operation: this node looks for work at once. */
  operationStarted(): void;
}
