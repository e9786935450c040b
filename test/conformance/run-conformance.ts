import type { Case } from "posthorn/testing";
import { describe, it } from "vitest";
import { skipFor } from "../skip-reason.js";

/** Runs the kit's cases as tests of vitest; `missing` skips them all, where the store itself is not to be had. */
export function runConformance(what: string, cases: readonly Case[], missing?: string): void {
  const topics = new Set(cases.map(({ topic }) => topic));
  describe(what, () => {
    describe.each([...topics])("%s", (topic) => {
      for (const each of cases.filter((one) => one.topic === topic)) {
        it(each.name, skipFor(missing ?? each.declined), () => each.run());
      }
    });
  });
}
