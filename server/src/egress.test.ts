import { expect, it } from "vitest";
import { openEgress } from "./egress.js";

const request = (url: string) => ({ url, headers: {}, body: new Uint8Array(), deadlineMs: 1000 });

it.each([
  ["http://example.com/", "`posthorn serve --dev` would allow it"],
  ["https://127.0.0.1/", "`posthorn serve --dev` would allow it"],
  ["https://10.1.2.3/", "`posthorn serve --allow-addresses 10.1.2.3` would allow it"],
  ["https://localhost/", "`--dev` for loopback, would allow it"],
])("the refusal of %s names the flag", async (url, flag) => {
  const egress = await openEgress({ dev: false, allowAddresses: [] });
  const { outcome, detail } = await egress.post(request(url));
  expect(outcome.kind).toBe("forbidden");
  expect(detail).toContain(flag);
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
