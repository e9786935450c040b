import { createReceiver, standardWebhooks } from "posthorn";
import type { ReceivedEvent } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { signedRequest } from "posthorn/testing";
import { expect, it } from "vitest";
import { EndpointDouble } from "./endpoint-double.js";
import { Person, until } from "./person.js";

it("an event that is posted five times at once is one event, and is delivered once", async () => {
  const person = new Person();
  const endpoint = await EndpointDouble.open();
  const served = await person.serves();
  expect(served.out).toMatch(/^token\s+phk_[\w-]{43}$/m);

  await person.does("source", "add", "stripe", "--test-secret");
  const { secret } = await person.reads<{ secret: string }>("endpoint", "add", endpoint.url);

  const { headers, body } = await signedRequest("stripe", { type: "invoice.paid", id: "evt_once" });
  const post = () => fetch(`${served.url}/in/stripe`, { method: "POST", headers, body: Buffer.from(body) });
  const answers = await Promise.all(Array.from({ length: 5 }, post));
  const verdicts = answers.map((answer) => String(answer.headers.get("posthorn-verdict")));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(verdicts.filter((verdict) => verdict === "stored")).toHaveLength(1);
  expect(verdicts.filter((verdict) => verdict === "duplicate")).toHaveLength(4);

  await until(() => endpoint.receipts.length > 0);
  // What came second would overtake nothing: it is delivered after whatever was there before.
  await person.does("send", "--type", "after.all", "--data", "{}");
  await until(() => endpoint.receipts.length > 1);
  const [first, second] = endpoint.receipts;
  expect(endpoint.receipts).toHaveLength(2);
  expect(first?.body).toBe(Buffer.from(body).toString());
  expect(second?.body).toContain("after.all");

  const events = await person.lists<{ id: string; source: string; type: string }>("events");
  const known = events.filter(({ source }) => source === "stripe");
  expect(known).toEqual([expect.objectContaining({ id: first?.id, type: "invoice.paid" })]);
  expect(answers.map((answer) => answer.headers.get("posthorn-event"))).toEqual(
    Array.from({ length: 5 }, () => first?.id),
  );
  expect(await handledBy(secret, first)).toEqual([first?.id]);
});

/** What the library's own receiver makes of a delivery, twice: it was signed anew, under the event's own id. */
async function handledBy(secret: string, receipt: EndpointDouble["receipts"][number] | undefined) {
  const handled: string[] = [];
  const receiver = createReceiver({
    store: memoryStore(),
    sources: { posthorn: standardWebhooks({ secrets: secret }) },
    handlers: { "*": (event: ReceivedEvent) => void handled.push(event.id) },
  });
  for (let time = 0; time < 2; time++)
    await receiver.receive("posthorn", {
      headers: receipt?.headers as Record<string, string>,
      body: Buffer.from(receipt?.body ?? ""),
    });
  return handled;
}
