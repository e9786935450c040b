import { describe, expect, it } from "vitest";
import { objectToName, objectToPort } from "./name-and-port-rules.js";

describe("a name", () => {
  it.each(["localhost", "localhost.", "a.localhost", "metadata.google.internal", "billing", "constructor"])(
    "of a private network is refused until addresses are opened: %s",
    (name) => {
      expect(objectToName(name)?.local).toBe(true);
    },
  );

  it.each(["", ".", "a..b.com", "example.com..", `${"a".repeat(64)}.com`, `${"a.".repeat(126)}aa`])(
    "that DNS does not allow is refused for good: %j",
    (name) => {
      expect(objectToName(name)?.local).toBe(false);
    },
  );

  it.each([
    "example.com",
    "example.com.",
    `${"a".repeat(63)}.com`,
    `${"a.".repeat(126)}a`,
    "internal.example.com",
  ])("that may be public is resolved: %s", (name) => {
    expect(objectToName(name)).toBeUndefined();
  });
});

it.each([0, 22, 25, 6379, 11_211, 5432])("nothing is sent to port %i", (port) => {
  expect(objectToPort(port)).toEqual(expect.any(String));
});

it.each([80, 443, 8080, 8443, 3000])("port %i may be HTTP's", (port) => {
  expect(objectToPort(port)).toBeUndefined();
});
