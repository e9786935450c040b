import { createSender } from "posthorn";
import { createAddressGuard } from "posthorn/dispatch";
import type { History, OutboxUnderTest } from "posthorn/testing";
import type { EndpointServer } from "./endpoint-server.js";
import { SECRET } from "./endpoint-server.js";
import { LOOSE_ENDPOINT } from "./outbox-database.js";

const LOOPBACK = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] });

/** One endpoint in the order of keys, and one that has everything of type `line` in one order. */
export const ENDPOINTS = [LOOSE_ENDPOINT, "ep_line"] as const;

export interface Retrying {
  /** Between two attempts. */
  readonly waitMs: number;
  readonly attempts: number;
  /** The shortest wait that attempts are held to, by the times that workers wrote down. @default waitMs */
  readonly leastWaitMs?: number;
}

/** Makes the endpoints, and tells the history of them. */
export async function createEndpoints(
  parts: {
    readonly outbox: Omit<OutboxUnderTest<never>, "accept" | "apply">;
    readonly server: EndpointServer;
    readonly history: History;
  },
  { waitMs, attempts, leastWaitMs = waitMs }: Retrying,
): Promise<void> {
  const { endpoints } = createSender({ store: parts.outbox, guard: LOOPBACK });
  const retry = { waitsMs: Array.from({ length: attempts - 1 }, () => waitMs), jitter: 0 };
  for (const id of ENDPOINTS) {
    const lined = id === "ep_line";
    await endpoints.create({
      id,
      url: parts.server.urlOf(id),
      secrets: SECRET,
      retry,
      ...(lined ? { order: "endpoint", types: ["line"] } : {}),
    });
    const seen = { endpoint: id, dead: "halt", maxAttempts: attempts, leastWaitMs } as const;
    parts.history.writer("tester").see("endpoint", seen);
  }
}
