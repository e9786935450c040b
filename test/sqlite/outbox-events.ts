import { createHash } from "node:crypto";
import type { Claim, ClaimRequest, Settlement } from "../../library/src/lanes/lane-store.js";
import type { OutboxUnderTest } from "posthorn/testing";
import type { Endpoint } from "../../library/src/outbox/endpoint.js";
import type { OutgoingEvent } from "../../library/src/outbox/outgoing-event.js";
import { DEFAULT_RETRY } from "../../library/src/work/retry-policy.js";

/** An endpoint that gets everything in order of its keys, unless told otherwise. */
export function endpointOf(given: Partial<Endpoint> = {}): Endpoint {
  return {
    id: "ep_a",
    tenant: "default",
    url: "https://example.com/hook",
    secrets: ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"],
    sources: ["*"],
    types: ["*"],
    order: "key",
    retry: DEFAULT_RETRY,
    dead: undefined,
    maxInFlight: 1000,
    state: "active",
    because: undefined,
    version: 1,
    ...given,
  };
}

export function eventOf(id: string, given: Partial<OutgoingEvent> = {}): OutgoingEvent {
  const body = given.body ?? Buffer.from(id);
  return {
    id,
    idGiven: false,
    tenant: "default",
    source: "app",
    type: "order.paid",
    key: "k",
    contentType: "application/json",
    time: new Date(0),
    deliverAt: undefined,
    expiresAt: undefined,
    body,
    contentHash: given.idGiven === true ? createHash("sha256").update(body).digest() : undefined,
    ...given,
  };
}

export function claimRequest(given: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    worker: "worker_1",
    limit: 100,
    leaseMs: 30_000,
    of: { kind: "endpoint" } as const,
    inFlight: new Map(),
    run: { maxEvents: 1, maxBytes: 1_000_000 },
    alone: false,
    ...given,
  };
}

/** All of a claim acknowledged, as a worker would tell it. */
export function acknowledgement(claim: Claim): Settlement {
  return {
    claim,
    attempts: claim.run.map(({ sequence, round }, index) => ({
      sequence,
      round,
      number: index === 0 ? claim.attempts + 1 : 1,
      startedAt: new Date(0),
      durationMs: 1,
      outcome: "acknowledged",
      status: 200,
      error: undefined,
      answer: undefined,
    })),
    acknowledged: claim.run.length,
    rest: undefined,
    next: true,
  };
}

/** Delivers everything that is due, settling all claims of a moment at once, and returns the ids in their order. */
export async function deliverAll(
  outbox: Omit<OutboxUnderTest<never>, "accept" | "apply">,
  request: ClaimRequest,
): Promise<string[]> {
  const delivered: string[] = [];
  let held: readonly Claim[] = [];
  for (;;) {
    if (held.length === 0) held = (await outbox.claim(request)).claims;
    if (held.length === 0) return delivered;
    delivered.push(...held.flatMap(({ run }) => run.map(({ event }) => event.id)));
    const settled = await outbox.settle({ ...request, settlements: held.map(acknowledgement) });
    held = settled.flatMap((each) => (each.kind === "settled" ? (each.next ?? []) : []));
  }
}
