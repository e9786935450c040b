import { readFileSync } from "node:fs";
import { createClient } from "posthorn/client";
import { afterAll, expect, it } from "vitest";
import { parse } from "yaml";
import { openApiText } from "../../../scripts/print-openapi.js";
import { apiBench, closeBenches } from "../../../test/server/api-bench.js";
import { PROBLEMS } from "./problem.js";

afterAll(closeBenches);

const committed = readFileSync(new URL("../../../spec/openapi.yaml", import.meta.url), "utf8");

interface Described {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

it("spec/openapi.yaml is what the routes say of themselves", async () => {
  expect(committed, "print it again: npx tsx scripts/print-openapi.ts").toBe(await openApiText());
});

it("the description is open to everybody, and the same", async () => {
  const { app } = await apiBench();
  const answer = await app.inject({ url: "/api/v1/openapi.json", headers: { host: "localhost" } });
  expect(answer.json()).toEqual(parse(committed));
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
});

it("no name in the description leads nowhere", () => {
  const described = parse(committed) as Described & { components: { schemas: object } };
  const named = [...committed.matchAll(/#\/components\/schemas\/([\w-]+)/g)].map(([, name]) => name);
  expect(Object.keys(described.components.schemas)).toEqual(expect.arrayContaining(named));
  expect(described.openapi).toBe("3.1.0");
});

it("the client has a call for every operation, and none besides", async () => {
  const { paths } = parse(committed) as Described;
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "x")}`),
  );
  expect((await callsOfClient()).toSorted()).toEqual(described.toSorted());
});

/** What every function of the client asks for, whatever it is given. */
async function callsOfClient(): Promise<string[]> {
  const asked: string[] = [];
  const client = createClient({
    url: "http://localhost",
    token: "t",
    fetch: (url, { method }) => {
      asked.push(`${method} ${new URL(url).pathname}`);
      return Promise.resolve(new Response("{}"));
    },
  });
  const calls = Object.entries(client).flatMap(([name, part]: [string, object]) =>
    name === "tail" ? [] : typeof part === "function" ? [part] : Object.values(part),
  );
  for (const call of calls as ((name: string, more: object) => Promise<unknown>)[]) await call("x", {});
  const ended = new AbortController();
  const first = client.tail({}, { signal: ended.signal })[Symbol.asyncIterator]().next();
  ended.abort();
  await first;
  return asked;
}

it("docs/api.md has a row for every operation and every problem, and none besides", () => {
  const page = readFileSync(new URL("../../../docs/api.md", import.meta.url), "utf8");
  const { paths } = parse(committed) as Described;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `| \`${method.toUpperCase()}\` | \`${path}\` |`),
  );
  const rows = page.match(/^\| `[A-Z]+` \| `[^`]+` \|/gm) ?? [];
  expect(rows.toSorted()).toEqual(operations.toSorted());
  const problems = Object.entries(PROBLEMS).map(
    ([code, { status, title }]) => `| \`${code}\` | ${status} | ${title} |`,
  );
  expect(page.match(/^\| `[a-z_]+` \| \d+ \| .*$/gm)).toEqual(problems);
});
