import { basicAuthValidator } from "chargebee";
import { chargebee } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import { changeBody, changeSecret, drawBody, dropHeader } from "../changes.js";
import type { Change } from "../sample.js";
import { before, changeHeader } from "../sample.js";
import type { Subject } from "../subject.js";
import { header } from "./common-differences.js";

const HEADER = "authorization";

export const CHARGEBEE: Subject = {
  library: "chargebee",
  verifier: "basicAuthValidator((username, password) => …)(headers)",
  create: chargebee,
  draw: (chance) => ({
    secret: `webhooks${chance.below(9)}:${chance.pick(["p:", "p", "p "])}${chance.bytes(12).toString("base64")}`,
    id: "",
    time: "",
    body: drawBody(chance),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign: ({ secret }) => ({
    headers: { [HEADER]: `Basic ${Buffer.from(secret).toString("base64")}` },
  }),
  accepts: async ({ secret, headers }) => {
    const colon = secret.indexOf(":");
    const user = secret.slice(0, colon);
    await basicAuthValidator((name, password) => name === user && password === secret.slice(colon + 1))({
      ...headers,
    });
    return true;
  },
  differences: [
    {
      name: "accepts an empty user or password",
      library: "accepts",
      code: "secret_malformed",
      when: ({ secret }) => /^:|^[^:]+:$/.test(secret),
      what: "hands whatever was sent to its caller's own comparison, an empty user or password included",
      why: "half of the credentials is no protection; the verifier tells it at start",
    },
    {
      name: "accepts credentials beyond ASCII",
      library: "accepts",
      code: "secret_malformed",
      when: ({ secret }) => /[^\x20-\x7e]/.test(secret),
      what: "decodes what was sent as UTF-8",
      why: "basic authentication has no agreed encoding, so that some senders and proxies never match",
    },
    {
      name: "rejects the scheme in other letters",
      library: "rejects",
      when: (sample) => !header(sample, HEADER).startsWith("Basic "),
      what: "wants `Basic` with these letters",
      why: "the names of schemes are the same in either case (RFC 9110)",
    },
    {
      name: "rejects more than one space",
      library: "rejects",
      when: (sample) => /^\S+ {2}| $/.test(header(sample, HEADER)),
      what: "splits the header at each space",
      why: "one or more spaces may stand behind the scheme (RFC 9110)",
    },
    {
      name: "accepts sloppy base64",
      library: "accepts",
      code: ["header_malformed", "signature_mismatch"],
      what: "reads base64 with junk in it and behind it",
      why: "one value has one text, apart from padding and alphabet",
    },
  ],
};

function change(chance: Chance): Change {
  switch (chance.below(6)) {
    case 0:
      return changeBody(chance);
    case 1:
      return changeSecret(chance);
    case 2:
      return dropHeader(chance, [HEADER]);
    case 3:
      return chance.pick([
        before("no password", (parts) => ({ ...parts, secret: "webhooks:" })),
        before("no user", (parts) => ({ ...parts, secret: ":password of many letters" })),
        before("no colon", (parts) => ({ ...parts, secret: "webhooks password" })),
        before("letters beyond ASCII", (parts) => ({ ...parts, secret: "webhooks:Zoë's own password" })),
      ]);
    default: {
      const [name, apply] = chance.pick<readonly [string, (value: string) => string]>([
        ["in small letters", (value) => value.replace("Basic", "basic")],
        ["in capitals", (value) => value.replace("Basic", "BASIC")],
        ["with two spaces", (value) => value.replace(" ", "  ")],
        ["with a space behind", (value) => `${value} `],
        ["with junk behind", (value) => `${value} junk`],
        ["with a comma and junk behind", (value) => `${value},junk`],
        ["with junk inside", (value) => value.replace(/.{4}$/, "!$&")],
        ["without padding", (value) => value.replace(/=+$/, "")],
        ["with more padding", (value) => `${value}=`],
        ["in the url-safe alphabet", (value) => value.replaceAll("+", "-").replaceAll("/", "_")],
        ["with a character changed", (value) => value.replace(/.(?=.{6}$)/, (c) => (c === "a" ? "b" : "a"))],
        ["cut", (value) => value.slice(0, -4)],
        ["without its scheme", (value) => value.replace("Basic ", "")],
        ["with another scheme", (value) => value.replace("Basic", "Bearer")],
        ["not encoded", (value) => `Basic ${Buffer.from(value.slice(6), "base64").toString("latin1")}`],
      ]);
      return changeHeader(name, HEADER, apply);
    }
  }
}
