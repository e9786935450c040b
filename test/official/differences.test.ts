import { expect, it } from "vitest";
import { differencesPage } from "./differences-page.js";
import { SUBJECTS } from "./subjects/all.js";

it("docs/differences.md lists every named difference; run this test with -u to print it anew", async () => {
  await expect(differencesPage(SUBJECTS)).toMatchFileSnapshot("../../docs/differences.md");
});

it("each difference has a name of its own within its library", () => {
  for (const { differences } of SUBJECTS) {
    const names = differences.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  }
});
