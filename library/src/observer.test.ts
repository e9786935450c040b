import { afterEach, expect, it, vi } from "vitest";
import { notify } from "./observer.js";
import type { Signal } from "./observer.js";

const signal: Signal = { kind: "secret_weak", scheme: "test", key: "secret 1", bytes: 8 };

afterEach(() => {
  vi.restoreAllMocks();
});

it("an observer is told synchronously and in order", () => {
  const seen: Signal[] = [];
  const observer = (each: Signal): void => void seen.push(each);
  notify(observer, signal);
  notify(observer, { ...signal, bytes: 9 });
  expect(seen).toEqual([signal, { ...signal, bytes: 9 }]);
});

it("an observer that throws costs the caller nothing, and its error is printed", () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const error = new Error("no disk");
  expect(() => {
    notify(() => {
      throw error;
    }, signal);
  }).not.toThrow();
  expect(printed).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("secret_weak"), error);
});

it("an observer that rejects costs the process nothing, and its error is printed", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const error = new Error("no disk");
  // oxlint-disable-next-line typescript/no-misused-promises -- users hand in such observers
  notify(() => Promise.reject(error), signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(printed).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("secret_weak"), error);
});

it("without an observer nothing happens", () => {
  expect(() => {
    notify(undefined, signal);
  }).not.toThrow();
});
