import type { AddressGuard } from "posthorn/dispatch";
import type { ServerParts } from "../parts.js";
import type { SessionCheck } from "./auth/session-check.js";
import type { SignInCodes } from "./auth/sign-in-codes.js";
import type { TokenCheck } from "./auth/token-check.js";

/** What the routes of the API are handed. */
export interface ApiParts extends ServerParts {
  readonly tokens: TokenCheck;
  readonly sessions: SessionCheck;
  readonly codes: SignInCodes;
  /** As the egress judges: what it would refuse later is refused when it is written. */
  readonly guard: Pick<AddressGuard, "judgeUrl">;
  /** A source was added, changed or removed on this node: resolves when ingest on this node knows. */
  sourcesChanged(): Promise<void>;
}
