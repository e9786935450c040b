import { expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { EndpointDouble } from "./endpoint-double.js";
import { Person, until } from "./person.js";

const TIMES = ["--attempt-timeout", "1s", "--lease", "6100ms"];
const database = await freshDatabase({ migrated: false });

it("of nodes on one Postgres one takes events in, and another delivers them, also when the one before was killed", async () => {
  const person = new Person();
  const masterKey = (await person.does("config", "new-key")).trim();
  const env = { POSTHORN_DATABASE: database, POSTHORN_MASTER_KEY: masterKey };
  const operator = new Person(env);
  const endpoint = await EndpointDouble.open();

  const gate = await operator.serves("--roles", "ingest,api");
  const token = /phk_[\w-]{43}/.exec(gate.out)?.[0];
  expect(token).toBeDefined();
  const first = await operator.serves("--roles", "dispatch", ...TIMES);
  expect((await fetch(`${first.url}/api/v1/events`)).status).toBe(404);

  await operator.does("source", "add", "stripe", "--test-secret", "--order-by", "json:/data/object/customer");
  await operator.does("endpoint", "add", endpoint.url);
  const trigger = async (): Promise<string> => {
    const args = ["trigger", "stripe", "invoice.paid", "--repeat", "3"];
    const { answers } = await operator.reads<{ answers: readonly { event: string }[] }>(...args);
    expect(new Set(answers.map(({ event }) => event)).size).toBe(1);
    return answers[0]?.event ?? "";
  };

  const ids = [await trigger()];
  await until(() => endpoint.taken.length === 1);
  endpoint.status = undefined;
  ids.push(await trigger());
  await until(() => endpoint.receipts.length === 2);
  await first.kill();
  endpoint.status = 200;
  // The gate goes on: it does not need the other.
  ids.push(await trigger());

  const second = await operator.serves("--roles", "dispatch", ...TIMES);
  await until(() => endpoint.taken.length === 3);
  expect(endpoint.taken).toEqual(ids);
  expect(await second.interrupt()).toBe(0);
  expect(await gate.interrupt()).toBe(0);
});

it("a node without the master key, or with another one, is refused", async () => {
  const person = new Person();
  const serve = ["serve", "--database", database, "--listen", "127.0.0.1:0"];
  const without = await person.types(...serve);
  expect(without.code).toBe(2);
  expect(without.err).toContain("posthorn config new-key");

  const key = (await person.does("config", "new-key")).trim();
  const other = await new Person({ POSTHORN_MASTER_KEY: key }).types(...serve);
  expect(other.code).not.toBe(0);
  expect(other.err).toContain("sealed under another master key");
});
