import { describe, expect, it } from "vitest";
import { bigint, boolean, bytes, columns, instant, number, optional, text } from "./columns.js";

const event = columns({
  id: bigint("event.id"),
  type: text("type"),
  attempts: number("attempts"),
  isDead: boolean("state = 'dead'"),
  at: optional(instant("event_at")),
  body: bytes("body"),
});

describe("columns", () => {
  it("are selected under their names, numbers and times as text", () => {
    expect(event.list).toBe(
      `(event.id)::text as "id", type as "type", (attempts)::text as "attempts", (state = 'dead')::text as "isDead", ` +
        `(extract(epoch from event_at) * 1000)::int8::text as "at", body as "body"`,
    );
  });

  it("that have numbers for names are selected under names whose order an object keeps", () => {
    const { list } = columns([text("url"), text("address")]);
    expect(list).toBe('url as "_0", address as "_1"');
  });

  it("are read in the order in which they are selected", () => {
    const body = new Uint8Array([1, 2]);
    expect(event.read(["9007199254740993", "order.paid", "3", "true", "1500", body, "more"])).toEqual({
      id: 9007199254740993n,
      type: "order.paid",
      attempts: 3,
      isDead: true,
      at: new Date(1500),
      body,
    });
    expect(event.read(["1", "t", "0", "false", null, body]).at).toBeUndefined();
    expect(event.read(["1", "t", "0", "false", undefined, body]).at).toBeUndefined();
  });

  it("that may not be null are loud when they are", () => {
    expect(() => event.read([null, "t", "0", "false", null, new Uint8Array()])).toThrow(
      "A column is null; expected text.",
    );
    expect(() => event.read(["1", "t", "0", "false", null, null])).toThrow(
      "A column is null; expected bytes.",
    );
  });
});
