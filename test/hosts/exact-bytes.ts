import { describe, expect, it } from "vitest";
import { NOT_UTF8, setStage, signed, SPACED } from "./stage.js";
import type { Post, Stage } from "./stage.js";

/** A host with the receiver mounted at /webhooks/:source. */
export interface Host {
  readonly post: Post;
  close?(): Promise<unknown>;
}

/** `stage` is for hosts that make the receiver themselves. */
export type OpenHost = (receiver: Stage["receiver"], stage: Stage) => Promise<Host> | Host;

const MEGABYTE = `{"type":"a.b","pad":"${"é".repeat(499_980)}"}`;
const FORM = "application/x-www-form-urlencoded";
const LARGE_FORM = `payload=${"%7B%22".repeat(33_000)}`;
const LONG_FORM = Array.from({ length: 1200 }, (_, index) => `p${index}=1`).join("&");

/**
 * What every adapter promises: the handler gets exactly the bytes that were sent, whatever they are. `hangsUp`: the host ends
 * the connection of a request whose body nobody reads to its end, so that its sender sees no reply.
 */
export function promiseExactBytes(
  name: string,
  open: OpenHost,
  { hangsUp = false }: { readonly hangsUp?: boolean } = {},
): void {
  describe(`${name} hands over exactly the bytes that were sent`, () => {
    it.each<[string, string | Uint8Array, string]>([
      ["of JSON with odd spaces", SPACED, "application/json; charset=utf-8"],
      ["that are not UTF-8", NOT_UTF8, "application/octet-stream"],
      ["of 1 MB", MEGABYTE, "application/json"],
      ["of a form", "a=1+2&b=%20&b=3", FORM],
      ["of a form of 200 kB", LARGE_FORM, FORM],
      ["of a form with 1,200 parameters", LONG_FORM, FORM],
      ["of XML", "<a>\r\n</a>\n", "application/xml"],
      ["of an empty body", "", "text/plain"],
      // What a framework's own parser of JSON refuses, where one stands before the adapter.
      ["of an empty body that is called JSON", "", "application/json"],
      ["of JSON with the key __proto__", '{"type":"a.b","__proto__":{"a":1}}', "application/json"],
      ["of JSON that is no object", "17", "application/json"],
      ["of JSON that is none", '{"type":', "application/json"],
      ["of JSON in another charset", SPACED, "application/json; charset=iso-8859-1"],
    ])("%s", async (_, body, type) => {
      const stage = setStage();
      const host = await open(stage.receiver, stage);
      try {
        const sent = await signed(body, { type });
        const reply = await host.post(sent);
        expect([reply.status, reply.headers.get("posthorn-verdict")], JSON.stringify(stage.refusals)).toEqual(
          [204, "applied"],
        );
        expect(stage.bodies.map((each) => Buffer.from(each).equals(sent.body))).toEqual([true]);
        expect((await host.post(sent)).headers.get("posthorn-verdict")).toBe("duplicate");
      } finally {
        await host.close?.();
      }
    });

    it("wherever the source is asked for with a query behind it", async () => {
      const stage = setStage();
      const host = await open(stage.receiver, stage);
      try {
        const reply = await host.post(await signed(SPACED, { path: "/webhooks/acme?bodySHA256=0a" }));
        expect(reply.status, JSON.stringify(stage.refusals)).toBe(204);
      } finally {
        await host.close?.();
      }
    });

    it("and refuses a changed body, an unknown source and too large a body", async () => {
      const stage = setStage();
      const host = await open(stage.receiver, stage);
      try {
        const sent = await signed(SPACED);
        const changed = { ...sent, body: Buffer.from(JSON.stringify(JSON.parse(SPACED))) };
        expect((await host.post(changed)).status).toBe(401);
        expect((await host.post({ ...sent, path: "/webhooks/nobody" })).status).toBe(404);
        const large = await signed(" ".repeat(1_048_577), { type: "text/plain" });
        const status = await host.post(large).then(
          (reply) => reply.status,
          () => "no reply",
        );
        expect(status).toBe(hangsUp ? "no reply" : 413);
        expect(stage.refusals.map(({ code }) => code)).toEqual(["source_unknown", "body_too_large"]);
        expect(stage.bodies).toEqual([]);
      } finally {
        await host.close?.();
      }
    });
  });
}
