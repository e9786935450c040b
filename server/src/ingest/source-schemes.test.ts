import { expect, it } from "vitest";
import { PROVIDERS } from "../../../dashboard/src/pages/sources/providers.js";
import { SOURCE_SCHEMES } from "./source-schemes.js";

it("the dashboard offers every scheme, and none besides", () => {
  expect(PROVIDERS.map(({ scheme }) => scheme).toSorted()).toEqual([...SOURCE_SCHEMES.keys()].toSorted());
});
