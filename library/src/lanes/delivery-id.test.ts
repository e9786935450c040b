import { describe, expect, it } from "vitest";
import { deliveryIdOf, parseDeliveryId, parseLaneId } from "./delivery-id.js";

const MOST = 2n ** 63n - 1n;

describe("the id of a delivery", () => {
  it.each([
    ["dlv_12_7", { kind: "lane", lane: 12n, sequence: 7n }],
    ["dlv_31", { kind: "loose", id: 31n }],
    [`dlv_${MOST}_${MOST}`, { kind: "lane", lane: MOST, sequence: MOST }],
  ] as const)("%s is read, and written again", (text, place) => {
    expect(parseDeliveryId(text)).toEqual(place);
    expect(deliveryIdOf(place)).toBe(text);
  });

  it.each(["", "dlv_", "dlv_x", "dlv_1_", "dlv_1_2_3", "evt_1", "dlv_-1", " dlv_1", `dlv_${MOST + 1n}`])(
    "is not %j",
    (text) => {
      expect(parseDeliveryId(text)).toBeUndefined();
      expect(parseDeliveryId(`dlv_1_${text}`)).toBeUndefined();
    },
  );
});

it("a lane's id is a number that every database holds", () => {
  expect(parseLaneId(String(MOST))).toBe(MOST);
  for (const text of ["", "-1", "1.0", "x", String(MOST + 1n), "1".repeat(20)])
    expect(parseLaneId(text)).toBeUndefined();
});
