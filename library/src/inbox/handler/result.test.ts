import { describe, expect, it } from "vitest";
import { encodeResult } from "./result.js";

function encode(result: unknown): { text: string | undefined; told: string[] } {
  const told: string[] = [];
  const tell = (message: string): void => void told.push(message);
  return { text: encodeResult(result, { info: tell, warn: tell }), told };
}

/** As the drivers answer: `pg` with an object of a class, `postgres` with an array of one. */
class QueryResult {
  readonly rows = [{ id: 1 }];
  readonly rowCount = 1;
}
class RowList extends Array<object> {}

describe("a handler's result", () => {
  it.each([
    [{ paid: true }, '{"paid":true}'],
    [null, "null"],
    [false, "false"],
    [["a", { b: [1.5] }], '["a",{"b":[1.5]}]'],
    [{ at: new Date(0), none: undefined }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [Object.create(null), "{}"],
  ])("is kept where it is plain JSON: %j", (result, text) => {
    expect(encode(result)).toEqual({ text, told: [] });
  });

  it("is nothing when the handler returned nothing", () => {
    expect(encode(undefined)).toEqual({ text: undefined, told: [] });
  });

  it("that is no plain JSON is told and left out, because the work is done", () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const throws = {
      toJSON: () => {
        throw new Error("no");
      },
    };
    const odd = [circular, throws, 1n, Number.NaN, () => 1, Symbol("s"), new Map(), new Uint8Array(2)];
    for (const each of [
      ...odd,
      new QueryResult(),
      RowList.from([{ id: 1 }]),
      { nested: new QueryResult() },
    ]) {
      expect(encode(each)).toEqual({ text: undefined, told: [expect.stringContaining("not plain JSON")] });
    }
  });

  it("that is too long is told and left out", () => {
    expect(encode("x".repeat(8190)).text).toHaveLength(8192);
    const { text, told } = encode("x".repeat(8191));
    expect([text, told]).toEqual([undefined, [expect.stringContaining("8192")]]);
  });
});
