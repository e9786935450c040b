import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { readStream } from "./node-body.js";
import type { StreamReading } from "./node-body.js";

function reading(maxBytes: number, headers: IncomingMessage["headers"] = {}) {
  const request = Object.assign(new EventEmitter(), { headers });
  const readings: StreamReading[] = [];
  readStream(request as unknown as IncomingMessage, maxBytes, { bodyRead: (each) => readings.push(each) });
  return { request, readings };
}

function bytesRead(readings: readonly StreamReading[]): Uint8Array {
  const [first] = readings;
  if (first?.kind !== "bytes") throw new Error("no body was read");
  return first.bytes;
}

const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, n) => n % 251));

it.each([1, 2, 7, 255, 256, 1000, 5000])(
  "a body of 5,000 bytes in pieces of %i is read to the byte, in memory of its own",
  (size) => {
    const { request, readings } = reading(5000);
    const body = bytesOf(5000);
    for (let at = 0; at < body.length; at += size)
      request.emit("data", Buffer.from(body.subarray(at, at + size)));
    request.emit("end");
    request.emit("close");
    expect(readings.map(({ kind }) => kind)).toEqual(["bytes"]);
    const bytes = bytesRead(readings);
    expect(Buffer.from(bytes).equals(body)).toBe(true);
    expect(bytes.buffer.byteLength).toBe(5000);
  },
);

it("large and small pieces in any order are read to the byte, in memory of their own", () => {
  const sizes = [40_000, 10, 20, 65_536, 65_536, 1, 20_000, 20_000, 5, 32_768, 7];
  const body = bytesOf(sizes.reduce((sum, size) => sum + size, 0));
  const { request, readings } = reading(body.length);
  Object.assign(request, { pause: () => undefined, resume: () => undefined });
  // As Node gives them: parts of what was read at once, which holds the lines between two chunks too.
  const slab = Buffer.concat([bytesOf(3), body, bytesOf(3)]);
  let at = 3;
  for (const size of sizes) request.emit("data", slab.subarray(at, (at += size)));
  request.emit("end");
  const bytes = bytesRead(readings);
  expect(Buffer.from(bytes).equals(body)).toBe(true);
  expect(bytes.buffer.byteLength).toBe(body.length);
  expect(slab.subarray(3, -3).equals(body)).toBe(true);
});

it("a piece that is a part of something larger is copied out of it, and never written to", () => {
  const { request, readings } = reading(100);
  const slab = Buffer.alloc(64, "x");
  request.emit("data", slab.subarray(0, 3));
  request.emit("data", Buffer.from("yy"));
  request.emit("end");
  const bytes = bytesRead(readings);
  expect([Buffer.from(bytes).toString(), bytes.buffer.byteLength]).toEqual(["xxxyy", 5]);
  expect(slab.toString()).toBe("x".repeat(64));
});

it("one byte too many ends it at once, told beforehand or not", () => {
  const { request, readings } = reading(10);
  request.emit("data", bytesOf(10));
  expect(readings).toEqual([]);
  request.emit("data", bytesOf(1));
  request.emit("end");
  expect(readings).toEqual([{ kind: "too_large" }]);
  expect(reading(10, { "content-length": "11" }).readings).toEqual([{ kind: "too_large" }]);
});

it("a connection that breaks leaves half a body, which is none", () => {
  const { request, readings } = reading(10);
  request.emit("data", bytesOf(3));
  request.emit("close");
  expect(readings).toEqual([{ kind: "broken" }]);
});

it("an empty body is a body", () => {
  const { request, readings } = reading(10);
  request.emit("end");
  expect(readings).toEqual([{ kind: "bytes", bytes: new Uint8Array() }]);
});

it("after a large piece, others are let in before the next", async () => {
  const turns: string[] = [];
  const { request, readings } = reading(1_000_000);
  Object.assign(request, { pause: () => turns.push("paused"), resume: () => turns.push("resumed") });
  request.emit("data", bytesOf(1000));
  expect(turns).toEqual([]);
  request.emit("data", bytesOf(64 * 1024));
  expect(turns).toEqual(["paused"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(turns).toEqual(["paused", "resumed"]);
  request.emit("end");
  expect(bytesRead(readings).length).toBe(1000 + 64 * 1024);
});
