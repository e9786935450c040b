import { afterAll, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../test/server/api-bench.js";

afterAll(closeBenches);

it.each([
  ["sources", "Not a name"],
  ["sources", "a/b"],
  ["tokens", "a"],
  ["tokens", "rej_1"],
  ["rejected", "tok_1"],
  ["rejected", "9"],
  ["endpoints", "a b"],
  ["events", "evt_1"],
  ["deliveries", "x"],
  ["lanes", "10"],
  ["lanes", "b.99999999999999999999"],
  ["dead", "none"],
])("%s refuses a cursor that no page of it gave: %s", async (list, after) => {
  const bench = await apiBench();
  const query = list === "deliveries" ? "event=e&" : "";
  const answer = await bench.call("GET", `/api/v1/${list}?${query}after=${encodeURIComponent(after)}`);
  expect(answer.json()).toMatchObject({ status: 400, code: "request_invalid", field: "after" });
});
