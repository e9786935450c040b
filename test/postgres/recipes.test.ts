import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

// The statements of docs/recipes.md, as they stand there: each block twice, so that what is not idempotent would show.

const page = readFileSync(new URL("../../docs/recipes.md", import.meta.url), "utf8");

interface Recipe {
  readonly name: string;
  readonly create: string;
  /** Of the block, in order; the last one reads. */
  readonly statements: readonly string[];
  readonly printed: string;
}

const recipes = [...page.matchAll(/```sql\n([^]*?)```\n\n```text\n([^]*?)```/g)].map(
  ([, block = "", printed = ""]): Recipe => {
    const [create = "", ...statements] = block.split(/;\n/).filter((each) => each.trim() !== "");
    return { name: /create table (\w+)/.exec(create)?.[1] ?? "", create, statements, printed };
  },
);

const lines = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => `${row.map(String).join("|")}\n`).join("");

const pool = quietPool({ connectionString: await freshDatabase(), max: 1 });
afterAll(() => pool.end());

it("the page has blocks with what they print", () => {
  expect(recipes.map(({ name }) => name)).toEqual([
    "account",
    "entry",
    "invoice",
    "shipment",
    "parcel",
    "charge",
    "webhook_inbox",
    "postel_received_messages",
  ]);
});

describe.each(recipes)("the recipe of the table $name, run twice, prints what the page shows", (recipe) => {
  const { create, statements, printed } = recipe;

  it("on Postgres", async () => {
    await pool.query(create);
    for (const statement of [...statements, ...statements.slice(0, -1)]) await pool.query(statement);
    const text = statements.at(-1) ?? "";
    const { rows } = await pool.query<unknown[]>({ text, rowMode: "array" });
    expect(lines(rows)).toBe(printed);
  });

  it("on SQLite", () => {
    const db = new Database(":memory:");
    db.exec(create);
    for (const statement of [...statements, ...statements.slice(0, -1)]) db.exec(statement);
    const rows = db
      .prepare(statements.at(-1) ?? "")
      .raw()
      .all() as unknown[][];
    expect(lines(rows)).toBe(printed);
    db.close();
  });
});
