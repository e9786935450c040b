import { describe, expect, it } from "vitest";
import { signedUrl } from "./signed-url.js";

function url(publicUrl: string | undefined, requestUrl?: string): string {
  const request = {
    headers: {},
    body: new Uint8Array(),
    ...(requestUrl === undefined ? {} : { url: requestUrl }),
  };
  return signedUrl(request, { publicUrl });
}

const required: unknown = expect.objectContaining({ code: "url_required" });

describe("without publicUrl", () => {
  it.each(["https://example.com/a?b=c", "HTTP://example.com", "http://u:p@[::1]:8080/?"])(
    "the request's URL %s counts as it stands",
    (text) => {
      expect(url(undefined, text)).toBe(text);
    },
  );

  it.each([undefined, "", "/a?b=c", "//example.com/a", "example.com/a", "ftp://example.com/a"])(
    "the request's URL %j is not enough, and the error names the option",
    (text) => {
      expect(() => url(undefined, text)).toThrow(required);
      expect(() => url(undefined, text)).toThrow("publicUrl");
    },
  );
});

it("a URL that is not enough is told without its query, which may hold a token", () => {
  expect(() => url(undefined, "/hooks?token=hush")).toThrow(
    expect.objectContaining({
      detail: { found: "/hooks", option: "publicUrl" },
      message: expect.not.stringContaining("hush"),
    }),
  );
});

describe("publicUrl as an origin", () => {
  it.each([
    ["/a/b?c=d", "https://example.com/a/b?c=d"],
    ["http://10.0.0.7:3000/a/b?c=d", "https://example.com/a/b?c=d"],
    ["https://internal?c=d", "https://example.com?c=d"],
    ["https://internal", "https://example.com"],
    ["//evil.test/a", "https://example.com//evil.test/a"],
    ["/%7Ea/../b/./?q='%27&é", "https://example.com/%7Ea/../b/./?q='%27&é"],
  ])("stands before the path and query of %s, which stay as they are", (requestUrl, expected) => {
    expect(url("https://example.com", requestUrl)).toBe(expected);
    expect(url("https://example.com/", requestUrl)).toBe(expected);
  });

  it("keeps its credentials and port", () => {
    expect(url("https://u:p@example.com:8443", "/a")).toBe("https://u:p@example.com:8443/a");
  });

  it.each([undefined, "evil.test/a", "@evil.test/a", ":81/a"])(
    "is refused before %j, which is no path and would run into the host",
    (requestUrl) => {
      expect(() => url("https://example.com", requestUrl)).toThrow(required);
    },
  );
});

describe("publicUrl with a path", () => {
  it("stands for all but the query, whatever the proxy made of the path", () => {
    expect(url("https://example.com/hooks", "/internal/7?x=1&y=%2F")).toBe(
      "https://example.com/hooks?x=1&y=%2F",
    );
    expect(url("https://example.com/hooks/", "http://app:80/internal")).toBe("https://example.com/hooks/");
  });

  it("gives way to the query of the request, and keeps its own where there is no request URL", () => {
    expect(url("https://example.com/hooks?x=1", "/hooks?x=2")).toBe("https://example.com/hooks?x=2");
    expect(url("https://example.com/hooks?x=1")).toBe("https://example.com/hooks?x=1");
  });

  it("loses a fragment, which no request carries", () => {
    expect(url("https://example.com/hooks#rc=2", "/hooks?x=1")).toBe("https://example.com/hooks?x=1");
    expect(url("https://example.com#rc=2", "/hooks")).toBe("https://example.com/hooks");
  });
});
