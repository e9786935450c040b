import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contentToHash, prepareEvent } from "../library/src/outbox/prepare-event.js";
import { publicationOf, vectors } from "./outbox-spec.js";

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
