import { expect, it, vi } from "vitest";
import { isPosthornError, PosthornError } from "./posthorn-error.js";

it("an error carries its code, its message and the facts behind it", () => {
  const error = new PosthornError("header_missing", "No header.", { detail: { header: "webhook-id" } });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: "PosthornError",
    code: "header_missing",
    message: "No header.",
    detail: { header: "webhook-id" },
  });
  expect("cause" in error).toBe(false);
  expect(new PosthornError("a", "b").detail).toEqual({});
});

it("an error keeps its cause, also one that is undefined", () => {
  const cause = new Error("first");
  expect(new PosthornError("a", "b", { cause }).cause).toBe(cause);
  expect("cause" in new PosthornError("a", "b", { cause: undefined })).toBe(true);
});

it("an error of another copy of the package is recognised", async () => {
  vi.resetModules();
  const copy = await import("./posthorn-error.js");
  const foreign = new copy.PosthornError("a", "b");
  expect(foreign).not.toBeInstanceOf(PosthornError);
  expect(isPosthornError(foreign)).toBe(true);
});

it("nothing else is taken for one, not even an error of the same shape", () => {
  const lookalike = Object.assign(new Error("b"), { name: "PosthornError", code: "a", detail: {} });
  for (const value of [lookalike, undefined, null, "a", 1, {}, Symbol.for("posthorn.error")])
    expect(isPosthornError(value)).toBe(false);
});

it("the brand stays out of logs", () => {
  const error = new PosthornError("a", "b");
  expect(Object.keys(error).toSorted()).toEqual(["code", "detail", "name"]);
});
