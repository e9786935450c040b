import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contentToHash, prepareEvent } from "../library/src/outbox/prepare-event.js";
import { publicationOf, tableRows, vectors } from "./outbox-spec.js";

const limits = { maxBodyBytes: 1_048_576 };

describe("what a publisher writes, by spec/vectors/outbox", () => {
  it.each(vectors.cases)("$name", ({ publication, row }) => {
    const { event } = prepareEvent(publicationOf(publication), vectors.now, limits);
    expect({
      public_id: event.id,
      tenant: event.tenant,
      source: event.source,
      type: event.type,
      key: event.key ?? null,
      content_type: event.contentType,
      headers: event.headers === undefined ? null : JSON.stringify(event.headers),
      event_ms: event.time.getTime(),
      deliver_ms: event.deliverAt?.getTime() ?? null,
      expires_ms: event.expiresAt?.getTime() ?? null,
      body: Buffer.from(event.body).toString(),
      content_hash: createHash("sha256").update(contentToHash(event.type, event.body)).digest("hex"),
    }).toEqual(row);
  });

  it.each(vectors.invalid)("$name is refused", ({ publication }) => {
    expect(() => prepareEvent(publicationOf(publication), vectors.now, limits)).toThrow(
      "Nothing was written",
    );
  });
});

/** The columns of a schema, as `event.public_id`, with their types. */
function columnTypes(store: "postgres" | "sqlite"): ReadonlyMap<string, string> {
  const path = `../library/src/stores/${store}/schema/schema.sql`;
  const schema = readFileSync(new URL(path, import.meta.url), "utf8");
  const types = new Map<string, string>();
  for (const [, table = "", body = ""] of schema.matchAll(/create table posthorn[._](\w+) \(([^]*?)\n\)/gi))
    for (const [, column = "", type = ""] of body.matchAll(/^ {2}(\w+) ([a-z].*?),?$/gm))
      types.set(`${table}.${column}`, type.replace(/ collate "C"| default .*| primary key.*/g, ""));
  return types;
}

/** The texts in backticks. */
function quoted(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

describe("the types on spec/outbox.md", () => {
  const postgres = columnTypes("postgres");
  const sqlite = columnTypes("sqlite");
  const rows = tableRows().map((cells) => cells.map(quoted));

  it("are those of the schemas, for every column of an event that a statement writes", () => {
    const events = rows.filter((cells) => cells.length === 4);
    expect(events).toHaveLength(12);
    for (const [[column] = [], [inPostgres] = [], [inSqlite] = []] of events) {
      expect([column, inPostgres]).toEqual([column, postgres.get(`event.${column}`)]);
      expect([column, inSqlite]).toEqual([column, sqlite.get(`event.${column}`)]);
    }
  });

  it("are those of the schemas, for every column beside the event", () => {
    const others = rows.filter((cells) => cells.length === 3);
    expect(others).toHaveLength(7);
    for (const [[left = "", inPostgres] = [], [right = "", inSqlite] = []] of others) {
      expect([left, inPostgres]).toEqual([left, postgres.get(left)]);
      expect([right, inSqlite]).toEqual([right, sqlite.get(right)]);
    }
  });

  it("name every column that a statement writes to", () => {
    const named = new Set(
      rows.flatMap((cells) =>
        cells.length === 4 ? [`event.${cells[0]?.[0]}`] : [cells[0]?.[0] ?? "", cells[1]?.[0] ?? ""],
      ),
    );
    const written = [
      ...readFileSync(new URL("../spec/outbox.md", import.meta.url), "utf8").matchAll(
        /insert into posthorn[._](\w+)\s+\(([^)]+)\)/g,
      ),
    ].flatMap(([, table = "", columns = ""]) => columns.split(/,\s*/).map((column) => `${table}.${column}`));
    expect(written.length).toBeGreaterThan(60);
    expect(written.filter((column) => !named.has(column))).toEqual([]);
  });
});

it("the examples in Python hold the statements of spec/outbox.md, with some columns left to their defaults", () => {
  for (const [file, table] of [
    ["postgres.py", "insert into posthorn.stage (tenant, event_id) select tenant, id from written"],
    ["sqlite.py", "insert into posthorn_stage (tenant, event) values"],
  ] as const) {
    const program = readFileSync(new URL(`../examples/outbox-python/${file}`, import.meta.url), "utf8");
    expect(program).toContain(table);
    // Short enough to be read at one look.
    expect(program.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(40);
  }
});
