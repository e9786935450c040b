import { createHash } from "node:crypto";
import type { Arrival } from "posthorn";

let made = 0;

/** An event that no test has seen before. */
export function newArrival(): Arrival {
  const body = Buffer.from(`{"n":${++made}}`);
  return {
    tenant: "default",
    source: "stripe",
    id: `evt_${made}`,
    idPreview: undefined,
    type: "invoice.paid",
    eventAt: undefined,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
    headers: "{}",
    windowS: 86_400,
  };
}
