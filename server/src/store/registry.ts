import type { RejectedRegistry } from "./rejected-request.js";
import type { SessionRegistry } from "./session.js";
import type { SourceRegistry } from "./source.js";
import type { TokenRegistry } from "./token.js";

/** What the server keeps beside the library's inbox and outbox, in the same database. */
export interface Registry extends SourceRegistry, TokenRegistry, SessionRegistry, RejectedRegistry {
  /** Writes one row and waits until it is durable: whether the database takes anything. */
  probeWrite(node: string): Promise<void>;
}
