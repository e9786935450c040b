import { describe, expect, it } from "vitest";
import { parseSearch } from "./search.ts";

const pathOf = (text: string): string => {
  const found = parseSearch(text);
  if (found.kind === "unknown") return "unknown";
  if (found.kind === "ask") return `ask ${found.text}`;
  const query = new URLSearchParams(found.query).toString();
  return query === "" ? found.path : `${found.path}?${query}`;
};

describe("a text in the search field", () => {
  it.each([
    "evt_7QK2",
    "order/7#paid",
    "webhook-id: msg_1",
    `curl -H 'webhook-id: evt_9' https://example.com`,
  ])("%s is looked for by the server, which knows its ids", (text) => {
    expect(pathOf(`  ${text} `)).toBe(`ask ${text}`);
  });

  it.each([
    ["type:invoice.paid key:cus_9", "/events?type=invoice.paid&key=cus_9"],
    ['key:"a b" source:stripe since:24h', "/events?source=stripe&key=a+b&since=24h"],
    ["id:ep_shop", "ask ep_shop"],
    ["endpoint:ep_shop", "/endpoints/ep_shop"],
    ["endpoint:ep_shop type:a", "/endpoints/ep_shop"],
    ["state:dead key:cus_9", "/dead?key=cus_9"],
    ["endpoint:ep_shop reason:exhausted", "/dead?endpoint=ep_shop&because=exhausted"],
    ["state:retrying endpoint:ep_shop", "/lanes?endpoint=ep_shop"],
    ["lane:12", "/lanes/12"],
    ["consumer:billing", "/inbox?consumer=billing"],
    ["outcome:failed source:shop since:24h", "/inbox?source=shop&since=24h&outcome=failed"],
  ])("%s asks for %s", (text, path) => {
    expect(pathOf(text)).toBe(path);
  });

  it("that is empty is answered with what can be asked", () => {
    expect(parseSearch(" ")).toMatchObject({ message: expect.stringContaining("type:invoice.paid") });
  });

  it("that is longer than an address may be is cut", () => {
    expect(pathOf("x".repeat(9000))).toHaveLength(2004);
  });
});
