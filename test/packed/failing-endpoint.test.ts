import { expect, it } from "vitest";
import { EndpointDouble } from "./endpoint-double.js";
import { Person, until } from "./person.js";

interface Lane {
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly depth: string;
}

interface DeadLetter {
  readonly id: string;
  readonly eventId: string;
  readonly blocks: boolean;
}

const RETRY = JSON.stringify({ firstMs: 50, factor: 1, maxAttempts: 3 });

async function send(person: Person, id: string, key: string): Promise<void> {
  await person.does("send", "--type", "order.paid", "--id", id, "--key", key, "--data", "{}");
}

it("a dead delivery blocks its lane until it is redriven or skipped, and order is kept", async () => {
  const person = new Person();
  const endpoint = await EndpointDouble.open();
  await person.serves();
  await person.does("endpoint", "add", endpoint.url, "--id", "ep_shop", "--retry", RETRY);

  endpoint.status = 500;
  for (const id of ["one", "two", "three"]) await send(person, id, "cus_1");
  await until(async () => (await person.lists("dead")).length > 0);
  expect(endpoint.receipts.map(({ id }) => id)).toEqual(["one", "one", "one"]);
  const [lane] = await person.lists<Lane>("lanes");
  expect(lane).toMatchObject({ key: "cus_1", state: "halted", depth: "3" });
  expect(await person.does("lanes")).toMatch(/ep_shop\s+cus_1\s+halted\s+3/);
  const [dead] = await person.lists<DeadLetter>("dead");
  expect(dead).toMatchObject({ eventId: "one", blocks: true });
  expect(await person.does("deliveries", "show", dead?.id ?? "")).toContain("500");

  endpoint.status = 200;
  expect(await person.does("redrive", dead?.id ?? "")).toContain(dead?.id);
  await until(() => endpoint.taken.length === 3);
  expect(endpoint.taken).toEqual(["one", "two", "three"]);
  expect(await person.does("lanes")).toBe("Nothing waits in any lane.\n");

  endpoint.status = 500;
  for (const id of ["four", "five"]) await send(person, id, "cus_1");
  await until(async () => (await person.lists("dead")).length > 0);
  endpoint.status = 200;
  // Nobody can be asked here, and what is passed over is not sent any more.
  expect((await person.types("skip", lane?.id ?? "")).code).toBe(2);
  await person.does("skip", lane?.id ?? "", "--yes");
  await until(() => endpoint.taken.length === 4);
  expect(endpoint.taken).toEqual(["one", "two", "three", "five"]);
});
