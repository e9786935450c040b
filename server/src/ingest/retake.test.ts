import { problemOf } from "posthorn/client";
import type { Client } from "posthorn/client";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import { afterAll, beforeEach, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../test/server/api-bench.js";
import type { ApiBench } from "../../../test/server/api-bench.js";
import { createIngest } from "./ingest.js";

const RIGHT = TEST_SECRETS.stripe.verifying;
const WRONG = "whsec_of_another_endpoint_of_the_same_account";
const DAY_MS = 86_400_000;

let bench: ApiBench;
let client: Client;
beforeEach(async () => {
  bench = await apiBench();
  client = bench.client();
  await client.sources.create({ name: "stripe", scheme: "stripe", secrets: [WRONG] });
});
afterAll(closeBenches);

/** Sends a request that Stripe signed with the right secret just now; the source has another one. */
async function send(settings: { readonly rejectedBodyBytes?: number } = {}): Promise<string> {
  const parts = { ...bench.parts, settings: { ...bench.parts.settings, ...settings } };
  const ingest = createIngest(parts);
  // Ids are in the order of receipt.
  await bench.clock.advance(10);
  await ingest.refresh();
  const { headers, body, method } = await signedRequest("stripe", { id: "evt_1", clock: bench.clock });
  const reply = await ingest.receive("stripe", { headers, body, method, url: "/in/stripe" });
  await ingest.stop();
  expect(reply.status).toBe(401);
  const [rejected] = (await client.rejected.list()).items;
  return rejected?.id ?? "";
}

it("a rejected request is taken in after its source was mended, a day later, and is rejected no more", async () => {
  const id = await send();
  expect((await client.rejected.get(id)).retryable).toBe(true);
  const refused = await client.rejected.retry(id).catch(problemOf);
  expect(refused).toMatchObject({ status: 409, detail: expect.stringContaining("signature_mismatch") });
  await client.sources.update("stripe", { secrets: [RIGHT] });
  // Beyond every tolerance: the signature is judged by the time of its receipt.
  await bench.clock.advance(DAY_MS);
  const { events } = await client.rejected.retry(id);
  expect(events).toMatchObject([{ verdict: "stored" }]);
  expect(await client.events.get(events[0]?.id ?? "")).toMatchObject({ source: "stripe" });
  await expect(client.rejected.get(id)).rejects.toMatchObject({ code: "api_not_found" });
});

it("what its sender has repeated meanwhile is a duplicate, and is not stored twice", async () => {
  const ids = [await send(), await send()];
  await client.sources.update("stripe", { secrets: [RIGHT] });
  const verdicts: string[] = [];
  for (const id of ids) {
    for (const { verdict } of (await client.rejected.retry(id)).events) verdicts.push(verdict);
  }
  expect(verdicts).toEqual(["stored", "duplicate"]);
});

it("a request that was not kept whole says so", async () => {
  const cut = await send({ rejectedBodyBytes: 10 });
  expect((await client.rejected.get(cut)).retryable).toBe(false);
  const partial = await client.rejected.retry(cut).catch(problemOf);
  expect(partial).toMatchObject({ status: 409, detail: expect.stringContaining("rejected_body") });
});
