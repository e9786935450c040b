import { BlockList, isIP } from "node:net";
import { describe, expect, it } from "vitest";
import { FORBIDDEN_ADDRESSES } from "./address-rules.js";

const lists = FORBIDDEN_ADDRESSES.map(({ range }) => {
  const [address = "", prefix] = range.split("/");
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), isIP(address) === 4 ? "ipv4" : "ipv6");
  return { range, address, list };
});

it.each(FORBIDDEN_ADDRESSES)("$range is a range, with a reason", ({ range, why }) => {
  const [address = "", prefix = "", rest] = range.split("/");
  expect(isIP(address)).not.toBe(0);
  expect(Number(prefix)).toBeLessThanOrEqual(isIP(address) === 4 ? 32 : 128);
  expect(rest).toBeUndefined();
  expect(why).not.toBe("");
});

it("no row stands behind a wider one, which would take its reason", () => {
  const hidden = lists.filter(({ address }, index) => {
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    return lists
      .slice(0, index)
      .some((before) => isIP(before.address) === isIP(address) && before.list.check(address, family));
  });
  // It begins with the address of a row that is narrower than itself.
  const begins = new Set(["::/96", "2001::/23", "::/3"]);
  expect(hidden.map(({ range }) => range).filter((range) => !begins.has(range))).toEqual([]);
});

const isForbidden = (address: string): boolean =>
  lists.some((each) => isIP(each.address) === 6 && each.list.check(address, "ipv6"));

describe("of IPv6", () => {
  it("all but 2000::/3 is forbidden", () => {
    for (let group = 0; group < 0x1_0000; group += 0x80) {
      const isGlobal = group >= 0x2000 && group < 0x4000;
      if (!isGlobal) expect([group, isForbidden(`${group.toString(16)}::1`)]).toEqual([group, true]);
    }
  });

  it.each(["2606:4700::1", "2a00:1450::1", "2400:cb00::1", "2c0f::1", "2800::1"])(
    "%s may be sent to",
    (address) => {
      expect(isForbidden(address)).toBe(false);
    },
  );
});
