import { describe, expect, it } from "vitest";
import { describeIssues, typed } from "./handlers.js";

describe("schemas", () => {
  it("typed() names a type and lets every value through", async () => {
    const schema = typed<{ id: string }>();
    expect(await schema["~standard"].validate(7)).toEqual({ value: 7 });
  });

  it("issues say where they are, and at most five are told", () => {
    const issue = { message: "expected a number", path: ["lines", { key: 0 }, "amount"] };
    expect(describeIssues([issue])).toBe("lines.0.amount: expected a number");
    expect(describeIssues([{ message: "expected an object" }])).toBe("expected an object");
    expect(describeIssues(Array.from({ length: 9 }, () => issue)).split("; ")).toHaveLength(5);
  });
});
