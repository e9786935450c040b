import { expect, it } from "vitest";
import {
  addressRange,
  bytes,
  count,
  duration,
  listenAddress,
  listOf,
  oneOf,
  postgresUrl,
  yesOrNo,
} from "./kinds.js";

it.each([
  ["127.0.0.1:8710", { host: "127.0.0.1", port: 8710 }],
  ["[::1]:80", { host: "::1", port: 80 }],
  ["8710", { host: "127.0.0.1", port: 8710 }],
  [8710, { host: "127.0.0.1", port: 8710 }],
  ["localhost:0", { host: "localhost", port: 0 }],
  ["0.0.0.0:65536", undefined],
  ["[nonsense]:1", undefined],
  ["::1:80", undefined],
  ["http://x:1", undefined],
  ["x:", undefined],
  ["", undefined],
  [-1, undefined],
])("the address %j is read as %j", (raw, address) => {
  expect(listenAddress.read(raw)).toEqual(address);
});

it.each([
  ["15s", 15_000],
  ["250ms", 250],
  ["5 m", 300_000],
  ["15", undefined],
  [15, undefined],
  ["1.5s", undefined],
  ["-1s", undefined],
  ["99h", undefined],
  ["NaNs", undefined],
])("the duration %j is %j", (raw, ms) => {
  expect(duration(1, 3_600_000).read(raw)).toBe(ms);
});

it.each([
  ["1MiB", 1_048_576],
  ["512kib", 524_288],
  [2048, 2048],
  ["10 MBB", undefined],
  ["1e3", undefined],
  [Number.NaN, undefined],
  [Infinity, undefined],
])("the size %j is %j", (raw, size) => {
  expect(bytes(1, 10_485_760).read(raw)).toBe(size);
});

it("numbers are whole and within their bounds", () => {
  const kind = count(1, 10);
  expect([1, "10", 0, 11, 1.5, "0x5", true].map((raw) => kind.read(raw))).toEqual([
    1,
    10,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it("lists are written with commas or as lists, and hold each value once", () => {
  const kind = listOf(oneOf(["a", "b"]), { least: 1 });
  expect(kind.read("a, b,a")).toEqual(["a", "b"]);
  expect(kind.read(["b"])).toEqual(["b"]);
  expect([kind.read("a,c"), kind.read(""), kind.read([]), kind.read(5)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it("switches have the words that people use", () => {
  expect(["true", "yes", "on", "1", true].map((raw) => yesOrNo.read(raw))).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
  expect(["false", "no", "off", "0", false].map((raw) => yesOrNo.read(raw))).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(yesOrNo.read("perhaps")).toBeUndefined();
});

it("ranges are addresses with a prefix that fits them", () => {
  expect(
    ["10.0.0.0/8", "fd00::/8", "10.1.2.3", "10.0.0.0/33", "x/8", "10.0.0.0/8/8"].map((raw) =>
      addressRange.read(raw),
    ),
  ).toEqual(["10.0.0.0/8", "fd00::/8", "10.1.2.3", undefined, undefined, undefined]);
});

it("only a URL of Postgres is one", () => {
  expect(postgresUrl.read("postgres://u:p@h/d")).toBe("postgres://u:p@h/d");
  expect([postgresUrl.read("mysql://h/d"), postgresUrl.read("postgres"), postgresUrl.read(5)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
