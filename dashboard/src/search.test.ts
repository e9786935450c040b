import { describe, expect, it } from "vitest";
import { parseSearch } from "./search.ts";

const pathOf = (text: string): string => {
  const found = parseSearch(text);
  if (found.kind === "unknown") return "unknown";
  const query = new URLSearchParams(found.query).toString();
  return query === "" ? found.path : `${found.path}?${query}`;
};

describe("a text in the search field", () => {
  it.each([
    ["evt_7QK2", "/events/evt_7QK2"],
    ["  evt_7QK2  ", "/events/evt_7QK2"],
    ["order/7#paid", "/events/order%2F7%23paid"],
    ["dlv_12_7", "/deliveries/dlv_12_7"],
    ["ep_shop", "/endpoints/ep_shop"],
    ["rej_7Qm2", "/rejected/rej_7Qm2"],
    ["webhook-id: msg_1", "/events/msg_1"],
    ["https://hooks.example.com/events/evt%2F1?tenant=a", "/events/evt%2F1"],
    [`curl -H 'webhook-id: evt_9' -H "webhook-timestamp: 1" https://example.com`, "/events/evt_9"],
    ["event evt_7QK2 failed again!", "/events/evt_7QK2"],
  ])("%s leads to %s", (text, path) => {
    expect(pathOf(text)).toBe(path);
  });

  it.each([
    ["type:invoice.paid key:cus_9", "/events?type=invoice.paid&key=cus_9"],
    ['key:"a b" source:stripe', "/events?source=stripe&key=a+b"],
    ["id:ep_shop", "/endpoints/ep_shop"],
    ["id:42 tenant:acme", "/events/42?tenant=acme"],
    ["endpoint:ep_shop", "/endpoints/ep_shop"],
    ["lane:12", "/lanes/12"],
  ])("%s asks for %s", (text, path) => {
    expect(pathOf(text)).toBe(path);
  });

  it("that no index answers is refused with what can be asked", () => {
    expect(pathOf("")).toBe("unknown");
    expect(parseSearch("what is wrong today?")).toMatchObject({ message: expect.stringContaining("type:") });
    expect(pathOf("endpoint:ep_shop type:a")).toBe("unknown");
  });
});
