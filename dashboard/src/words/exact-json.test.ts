import { describe, expect, it } from "vitest";
import { hexLines, isSafe, jsonLines, utf8Of } from "./exact-json.ts";

const shown = (text: string): string | undefined =>
  jsonLines(text)
    ?.map(({ pieces }) => pieces.map((piece) => piece.text).join(""))
    .join("\n");

describe("a JSON body", () => {
  it("keeps every digit, the order of keys, repeated keys and escapes", () => {
    const sent = '{"b":900719925474099312,"a":1.10,"a":-0,"\\u0041":"\\ud83d\\ude00"}';
    expect(shown(sent)).toBe(
      '{\n  "b": 900719925474099312,\n  "a": 1.10,\n  "a": -0,\n  "\\u0041": "\\ud83d\\ude00"\n}',
    );
  });

  it("marks the lines whose number JavaScript would round", () => {
    const lines =
      jsonLines('{"a":1,"b":9007199254740993,"c":0.1,"d":1e400,"e":0.12345678901234567890}') ?? [];
    expect(lines.map(({ exact }) => exact)).toEqual([false, false, true, false, true, true, false]);
  });

  it("is laid out in lines, empty lists and objects on one", () => {
    expect(shown('{"a":[],"b":{},"c":[1,{"d":null}]}')).toBe(
      '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    {\n      "d": null\n    }\n  ]\n}',
    );
    expect(shown('"only text"')).toBe('"only text"');
  });

  it("tells keys from texts, also where they hold marks of JSON", () => {
    const [, line] = jsonLines('{"a:{": "}],:"}') ?? [];
    expect(line?.pieces.map(({ kind, text }) => [kind, text])).toEqual([
      ["space", "  "],
      ["key", '"a:{"'],
      ["mark", ": "],
      ["text", '"}],:"'],
    ]);
  });

  it("is none where it does not parse", () => {
    expect([jsonLines("{"), jsonLines(""), jsonLines("NaN"), jsonLines("{'a':1}")]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });
});

it("a number is safe when printing it again gives the same", () => {
  expect(["1", "-0", "1.10", "1e3", "0.1", "9007199254740992"].map((text) => isSafe(text))).toEqual(
    Array.from({ length: 6 }, () => true),
  );
  expect(["9007199254740993", "1e400", "0.30000000000000001"].map((text) => isSafe(text))).toEqual([
    false,
    false,
    false,
  ]);
});

it("bytes that are no text are shown as bytes", () => {
  expect(utf8Of(Uint8Array.of(0xff, 0x00))).toBeUndefined();
  expect(utf8Of(new TextEncoder().encode("é"))).toBe("é");
  expect(hexLines(new TextEncoder().encode('{"id":1}\n'))).toEqual([
    '00000000  7b 22 69 64 22 3a 31 7d 0a                       {"id":1}·',
  ]);
});
