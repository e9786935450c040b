import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const text = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

// An operator who looks into the database must find each table on the page of the store.
describe.each([
  { store: "postgres", prefix: "posthorn." },
  { store: "sqlite", prefix: "posthorn_" },
])("docs/$store.md", ({ store, prefix }) => {
  it("names every table of the schema", () => {
    const schema = text(`library/src/stores/${store}/schema/schema.sql`);
    const tables = [...schema.matchAll(/^create table (\w+[.]?\w*)/gim)].flatMap(([, name]) =>
      name?.startsWith(prefix) ? [store === "postgres" ? name.slice(prefix.length) : name] : [],
    );
    expect(tables.length).toBeGreaterThan(20);
    const page = text(`docs/${store}.md`);
    expect(tables.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
