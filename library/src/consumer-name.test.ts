import { expect, it } from "vitest";
import { consumerNameFault, handlerId, inboxName, isHandlerId, shownName } from "./consumer-name.js";

it.each([
  ["billing", "billing", "billing", "hnd_billing"],
  ["hnd_billing", "billing", "billing", "hnd_billing"],
  ["", "default", "", "hnd_default"],
  ["default", "default", "", "hnd_default"],
  ["hnd_default", "default", "", "hnd_default"],
])(
  "a consumer that is called %o has one name for people, one in the inbox and one in the lanes",
  (...given) => {
    const [named, ...names] = given;
    expect([shownName(named), inboxName(named), handlerId(named)]).toEqual(names);
    expect(isHandlerId(handlerId(named))).toBe(true);
  },
);

it.each(["hnd_billing", "Hnd_x", "default", "", "-a", "a b", "a".repeat(64)])(
  "no host calls a consumer so: %s",
  (name) => expect(consumerNameFault(name)).toContain("the consumer's name"),
);

it.each(["billing", "hndbilling", "a_hnd_b", "A-1"])("a host may call a consumer so: %s", (name) =>
  expect(consumerNameFault(name)).toBeUndefined(),
);
