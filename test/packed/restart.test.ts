import { signedRequest } from "posthorn/testing";
import { expect, it } from "vitest";
import { EndpointDouble } from "./endpoint-double.js";
import { Person, until } from "./person.js";

// The shortest that are taken: on Postgres, and at a second kill, what was under way waits for the end of its lease.
const TIMES = ["--attempt-timeout", "1s", "--lease", "6100ms"];

it("what was answered before a kill -9 is delivered after the restart, in order and once", async () => {
  const person = new Person();
  const endpoint = await EndpointDouble.open();
  const first = await person.serves(...TIMES);
  await person.does("source", "add", "stripe", "--test-secret", "--order-by", "json:/data/object/customer");
  await person.does("endpoint", "add", endpoint.url);

  // Nobody answers the first: it is under way when its server dies, and the others wait behind it.
  endpoint.status = undefined;
  const ids: (string | null)[] = [];
  for (const id of ["evt_1", "evt_2", "evt_3"]) {
    const { headers, body } = await signedRequest("stripe", { type: "invoice.paid", id });
    const answer = await fetch(`${first.url}/in/stripe`, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    ids.push(answer.headers.get("posthorn-event"));
  }
  await until(() => endpoint.receipts.length > 0);
  await first.kill();
  endpoint.status = 200;

  const second = await person.serves(...TIMES);
  expect(second.out).not.toContain("phk_");
  // The commands find the new address by themselves, and the token still holds.
  expect((await person.lists("events")).length).toBe(3);
  await until(() => endpoint.taken.length === 3);
  expect(endpoint.taken).toEqual(ids);

  const { headers, body } = await signedRequest("stripe", { type: "invoice.paid", id: "evt_2" });
  const again = await fetch(`${second.url}/in/stripe`, { method: "POST", headers, body });
  expect(again.headers.get("posthorn-verdict")).toBe("duplicate");
  expect(again.headers.get("posthorn-event")).toBe(ids[1]);
  expect(await second.interrupt()).toBe(0);
  expect(endpoint.taken).toEqual(ids);
});
