import { expect, it } from "vitest";
import { openEgress } from "./egress.js";

const silent = { warn: () => undefined };

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
  const egress = await openEgress({ dev: false, allowAddresses: [] }, { log: silent });
  const { outcome, detail } = await egress.post(request(url));
  expect([outcome.kind, detail]).toEqual(["forbidden", says]);
  await egress.close();
});

it("with --dev, loopback without TLS is not refused, and private networks still are", async () => {
  const egress = await openEgress({ dev: true, allowAddresses: [] }, { log: silent });
  const answers = await Promise.all(
    ["http://127.0.0.1:1/", "http://127.0.0.1:9999/", "http://10.1.2.3/"].map((url) =>
      egress.post(request(url)),
    ),
  );
  expect(answers.map(({ outcome }) => outcome.kind)).toEqual(["forbidden", "unreachable", "forbidden"]);
  await egress.close();
});

it("the private address behind a name is told to the log, and to no caller", async () => {
  const lines: unknown[] = [];
  const log = { warn: (fields: unknown) => void lines.push(fields) };
  const egress = await openEgress(
    { dev: false, allowAddresses: [] },
    { log: log as never, resolve: () => Promise.resolve(["10.1.2.3"]) },
  );
  const { outcome, detail } = await egress.post(request("https://hooks.example.com/"));
  expect(outcome).toMatchObject({ kind: "forbidden" });
  expect(detail).toBe(
    "hooks.example.com leads to an address where nothing is sent. The server's log names it, and what would allow it.",
  );
  expect(lines).toEqual([
    { host: "hooks.example.com", found: expect.stringContaining("--allow-addresses 10.1.2.3") as string },
  ]);
  await egress.close();
});
