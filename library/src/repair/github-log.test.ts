import { describe, expect, it } from "vitest";
import { githubLog } from "./github-log.js";
import type { GithubHook } from "./github-log.js";
import type { ApiOptions } from "./provider-api.js";
import { stripeLog } from "./stripe-log.js";

const AT = "2026-11-15T12:00:00Z";
const first = { since: new Date(0), next: undefined, signal: undefined };

/** A way out that keeps what it was asked, and answers by it. */
function asking(answerOf: (url: URL) => unknown) {
  const asked: { readonly url: string; readonly headers: Readonly<Record<string, string>> }[] = [];
  const get = ({ url, headers }: (typeof asked)[number]): Promise<unknown> => {
    asked.push({ url, headers });
    const answer = new TextEncoder().encode(JSON.stringify(answerOf(new URL(url))));
    const link = `<${url}&cursor=v1_2>; rel="next"`;
    return Promise.resolve({
      outcome: { kind: "acknowledged", status: 200 },
      headers: url.includes("cursor=") ? {} : { link },
      answer,
      cut: false,
    });
  };
  return { egress: { get } as unknown as ApiOptions["egress"], asked };
}

const HEADERS = {
  accept: "application/vnd.github+json",
  "x-github-api-version": "2022-11-28",
  authorization: "Bearer ghp_test",
  "user-agent": "posthorn",
};
const DELIVERY = { request: { headers: {}, payload: { action: "opened" } } };

const HOOKS: readonly (readonly [whose: string, hook: GithubHook, path: string])[] = [
  ["an app", "app", "/app/hook/deliveries"],
  ["an organisation", { organization: "acme", id: 7 }, "/orgs/acme/hooks/7/deliveries"],
  ["a repository", { repository: "acme/my.shop-1", id: 8 }, "/repos/acme/my.shop-1/hooks/8/deliveries"],
];

describe.each(HOOKS)("the log of a hook of %s", (_whose, hook, path) => {
  const list = [{ id: 11, guid: "a", delivered_at: AT }];

  it("is asked for page by page, and for each delivery, with GitHub's headers and the token", async () => {
    const { egress, asked } = asking((url) => (url.pathname === path ? list : DELIVERY));
    const log = githubLog({ egress, token: () => Promise.resolve("ghp_test"), hook });
    const { entries, next } = await log.page(first);
    await log.page({ ...first, next });
    await entries[0]?.load();
    expect(asked).toEqual([
      { url: `https://api.github.com${path}?per_page=100`, headers: HEADERS },
      { url: `https://api.github.com${path}?per_page=100&cursor=v1_2`, headers: HEADERS },
      { url: `https://api.github.com${path}/11`, headers: HEADERS },
    ]);
  });

  it("is asked for at GitHub Enterprise Server, with a slash at the end of its address or without", async () => {
    const { egress, asked } = asking(() => []);
    for (const baseUrl of ["https://git.example/api/v3", "https://git.example/api/v3/"])
      await githubLog({ egress, token: "ghp_test", hook, baseUrl }).page(first);
    const url = `https://git.example/api/v3${path}?per_page=100`;
    expect(asked).toEqual([
      { url, headers: HEADERS },
      { url, headers: HEADERS },
    ]);
  });
});

it.each<GithubHook>([
  { repository: "acme/../app", id: 1 },
  { repository: "acme", id: 1 },
  { repository: "acme/shop", id: 0 },
  { organization: "acme/x", id: 1 },
  { organization: "..", id: 1 },
  { organization: "acme", id: 1.5 },
])("a hook that would lead to another path of the API is refused: %j", (hook) => {
  const { egress, asked } = asking(() => []);
  expect(() => githubLog({ egress, token: "ghp_test", hook })).toThrow(
    expect.objectContaining({ code: "repair_option_invalid" }),
  );
  expect(asked).toEqual([]);
});

it("the events of a Stripe account are asked for with the key, the account and the version", async () => {
  const { egress, asked } = asking(() => ({ data: [], has_more: false }));
  const options = { egress, apiKey: "rk_test", account: "acct_1", apiVersion: "2026-01-01", types: ["a.b"] };
  await stripeLog(options).page({ since: new Date(AT), next: "evt_1", signal: undefined });
  const [{ url, headers } = { url: "", headers: {} }] = asked;
  const { origin, pathname, searchParams } = new URL(url);
  expect([origin, pathname, [...searchParams]]).toEqual([
    "https://api.stripe.com",
    "/v1/events",
    [
      ["limit", "100"],
      ["created[gte]", String(Date.parse(AT) / 1000)],
      ["types[]", "a.b"],
      ["starting_after", "evt_1"],
    ],
  ]);
  expect(headers).toEqual({
    "stripe-account": "acct_1",
    "stripe-version": "2026-01-01",
    authorization: "Bearer rk_test",
    "user-agent": "posthorn",
  });
});
