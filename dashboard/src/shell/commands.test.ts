import { expect, it, vi } from "vitest";

vi.mock("../api/api.ts", () => ({ api: {}, session: { value: undefined } }));
const { matching } = await import("./commands.ts");

const labels = (typed: string): readonly string[] =>
  matching(
    ["Overview", "Dead letters", "Add an endpoint", "Endpoints", "ep_depot"].map((label) => ({ label })),
    typed,
  ).map(({ label }) => label);

it("the palette lists what begins with the letters first, then what has them, then what has them in order", () => {
  expect(labels("end")).toEqual(["Endpoints", "Add an endpoint"]);
  expect(labels("dl")).toEqual(["Dead letters"]);
  expect(labels("dep")).toEqual(["ep_depot", "Add an endpoint"]);
});

it("the palette lists everything before a letter is typed, and nothing that lacks one", () => {
  expect(labels(" ")).toHaveLength(5);
  expect(labels("zz")).toEqual([]);
});
