import { expect, it } from "vitest";
import { openEgress } from "./egress.js";

const request = (url: string) => ({ url, headers: {}, body: new Uint8Array(), deadlineMs: 1000 });

it.each([
  [
    "http://example.com/",
    "The URL is of http, which anybody on the way can read; `posthorn serve --dev` would allow it.",
  ],
  [
    "https://127.0.0.1/",
    "127.0.0.1 is in 127.0.0.0/8 (loopback), where nothing is sent; `posthorn serve --dev` would allow it.",
  ],
  [
    "https://10.1.2.3/",
    "10.1.2.3 is in 10.0.0.0/8 (private use), where nothing is sent; " +
      "`posthorn serve --allow-addresses 10.1.2.3` would allow it.",
  ],
  [
    "https://localhost/",
    "The URL's host localhost is refused: names that end in localhost are kept for the machine itself; " +
      "`posthorn serve --allow-addresses` with the addresses that it resolves to, or `--dev` for loopback, would allow it.",
  ],
])("the refusal of %s names the flag", async (url, says) => {
  const egress = await openEgress({ dev: false, allowAddresses: [] });
  const { outcome, detail } = await egress.post(request(url));
  expect([outcome.kind, detail]).toEqual(["forbidden", says]);
  await egress.close();
});

it("with --dev, loopback without TLS is not refused, and private networks still are", async () => {
  const egress = await openEgress({ dev: true, allowAddresses: [] });
  const answers = await Promise.all(
    ["http://127.0.0.1:1/", "http://127.0.0.1:9999/", "http://10.1.2.3/"].map((url) =>
      egress.post(request(url)),
    ),
  );
  expect(answers.map(({ outcome }) => outcome.kind)).toEqual(["forbidden", "unreachable", "forbidden"]);
  await egress.close();
});
