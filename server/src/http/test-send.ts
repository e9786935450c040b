import { createSigner, sign } from "posthorn";
import type { Endpoint } from "posthorn";
import type { TestInput, TestSend } from "posthorn/client";
import { newId } from "posthorn/gateway";
import type { ServerParts } from "../parts.js";
import { showTestSend } from "./resources/endpoint.js";

const TEST_TYPE = "posthorn.test";
// Enough to see what the receiver says.
const MAX_ANSWER_BYTES = 4096;

/** Sends one signed event through the egress of deliveries, and stores nothing. */
export async function sendTest(
  { egress, clock, settings }: Pick<ServerParts, "egress" | "clock" | "settings">,
  endpoint: Endpoint,
  input: TestInput,
): Promise<TestSend> {
  const at = new Date(clock.now());
  const { type = TEST_TYPE, data = { test: true, endpoint: endpoint.id } } = input;
  const id = newId("evt_test", at.getTime());
  const body = new TextEncoder().encode(JSON.stringify({ type, timestamp: at.toISOString(), data }));
  const signed = await sign(createSigner({ secrets: endpoint.secrets }), { id, body, at });
  const answer = await egress.post({
    url: endpoint.url,
    headers: { ...signed, "content-type": "application/json", "user-agent": "Posthorn" },
    body,
    deadlineMs: settings.attemptTimeoutMs,
    maxAnswerBytes: MAX_ANSWER_BYTES,
  });
  return showTestSend(id, answer);
}
