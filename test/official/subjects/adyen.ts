import { createHmac } from "node:crypto";
import { hmacValidator } from "@adyen/api-library";
import { adyen } from "posthorn/providers";
import type { Chance } from "../../chance.js";
import { changeBody, changeSecret } from "../changes.js";
import type { Change, Parts, Sample } from "../sample.js";
import { after, before } from "../sample.js";
import type { Subject } from "../subject.js";
import { isUtf8 } from "./common-differences.js";

type Item = Record<string, unknown>;

/** The signed fields, in their order; two of them stand in `amount`. */
const FIELDS = [
  "pspReference",
  "originalReference",
  "merchantAccountCode",
  "merchantReference",
  "value",
  "currency",
  "eventCode",
  "success",
] as const;

const MERCHANT_REFERENCE = FIELDS.indexOf("merchantReference");

export const ADYEN: Subject = {
  library: "@adyen/api-library",
  verifier: "new hmacValidator().validateHMAC(notificationRequestItem, key)",
  create: adyen,
  draw: (chance) => ({
    secret: chance.bytes(32).toString("hex").toUpperCase(),
    id: "",
    time: "",
    body: Buffer.from(JSON.stringify(notification(drawItem(chance)))),
    url: "https://example.com/hooks",
    method: "POST",
  }),
  change,
  sign,
  accepts: ({ secret, body }) => new hmacValidator().validateHMAC(judgedItem(body), secret),
  differences: [
    {
      name: "accepts sloppy keys",
      library: "accepts",
      code: "secret_malformed",
      what: "reads hexadecimal up to the first character that is none, and keys of any length",
      why: "a key that was copied wrongly is told at start; of a short one there are few",
    },
    {
      name: "accepts sloppy base64",
      library: "accepts",
      code: ["body_malformed", "signature_mismatch"],
      when: ({ body }) => !/^[\w+/-]{43}=?$/.test(signatureOf(body)),
      what: "reads a signature with spaces or junk in it or behind it, so that many texts mean one signature",
      why: "one signature has one text, apart from padding and alphabet",
    },
    {
      name: "accepts colons in fields",
      library: "accepts",
      code: "body_malformed",
      when: ({ body }) =>
        signedValues(body).some(
          (value, index) => index !== MERCHANT_REFERENCE && String(value).includes(":"),
        ),
      what: "joins the fields with colons and accepts a colon in any of them, so that characters can move from one field to the next under the same signature",
      why: "only the merchant's own reference may hold one: where two fields may, the content means two notifications",
    },
    {
      name: "accepts fields of any type",
      library: "accepts",
      code: "body_malformed",
      when: ({ body }) => signedValues(body).some((value) => !isPlain(value)),
      what: "writes lists, objects, booleans, fractions and numbers beyond 2^53 as JavaScript does, so that several values have one signature",
      why: 'Adyen signs texts and whole numbers; `["x"]` is not `"x"`',
    },
    {
      name: "accepts a second item",
      library: "accepts",
      code: "body_malformed",
      when: ({ body }) => itemsOf(body).length > 1,
      what: "checks the one item that it is given, and leaves a second one in the request to its caller",
      why: "an item that nobody checked must not reach a handler; by JSON, Adyen sends one in each request",
    },
    {
      name: "rejects items without an amount",
      library: "rejects",
      when: ({ body }) => !isObject(itemOf(body)["amount"]),
      what: "throws where the item has no amount, though it is rightly signed",
      why: "absent fields are signed as nothing; reports come without an amount",
    },
    {
      name: "rejects a byte order mark",
      library: "rejects",
      when: ({ body }) => body.subarray(0, 3).equals(Buffer.from("\ufeff")),
      what: "wants JSON that its caller has parsed, and `JSON.parse` takes no byte order mark",
      why: "the mark says nothing, and it is not among what is signed",
    },
    {
      name: "accepts JSON that is not UTF-8",
      library: "accepts",
      code: "body_malformed",
      when: ({ body }) => !isUtf8(body),
      what: "wants JSON that its caller has decoded, which reads broken bytes as U+FFFD",
      why: "a body that is not UTF-8 is no JSON, and nothing is guessed from it",
    },
  ],
};

function notification(item: Item): { live: string; notificationItems: { NotificationRequestItem: Item }[] } {
  return { live: "false", notificationItems: [{ NotificationRequestItem: item }] };
}

function drawItem(chance: Chance): Item {
  return {
    pspReference: chance.bytes(8).toString("hex").toUpperCase(),
    ...(chance.below(2) === 0 ? { originalReference: `8${chance.below(1e9)}` } : {}),
    merchantAccountCode: "PosthornExample",
    merchantReference: chance.pick(["order-1", "order:1", "", "Zoë 📯", "a\\\\b"]),
    amount: { value: chance.pick([0, 1000, -5, 99_999_999]), currency: chance.pick(["EUR", "JPY"]) },
    eventCode: chance.pick(["AUTHORISATION", "REFUND"]),
    eventDate: "2026-11-15T20:00:53+01:00",
    success: chance.pick(["true", "false"]),
    paymentMethod: "visa",
  };
}

function itemsOf(body: Buffer): readonly { readonly NotificationRequestItem?: Item }[] {
  try {
    const found = JSON.parse(body.toString().replace(/^\ufeff/, "")) as Partial<
      ReturnType<typeof notification>
    >;
    return found.notificationItems ?? [];
  } catch {
    return [];
  }
}

function itemOf(body: Buffer): Item {
  return itemsOf(body)[0]?.NotificationRequestItem ?? {};
}

function isObject(value: unknown): value is Item {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is signed, where Adyen has it. */
function signedValues(body: Buffer): readonly unknown[] {
  const item = itemOf(body);
  const amount = isObject(item["amount"]) ? item["amount"] : {};
  return FIELDS.map((name) => (name === "value" || name === "currency" ? amount[name] : item[name]));
}

function isPlain(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string" || Number.isSafeInteger(value);
}

function signatureOf(body: Buffer): string {
  const data = itemOf(body)["additionalData"];
  return isObject(data) ? String(data["hmacSignature"]) : "";
}

/** Adyen's rule: the fields, joined by colons, nothing for those that are absent. */
function sign({ secret, body }: Parts): Pick<Sample, "headers"> & Partial<Sample> {
  const item = itemOf(body);
  const content = signedValues(body).join(":");
  const key = Buffer.from(secret, "hex");
  const hmacSignature = createHmac("sha256", key).update(content).digest("base64");
  const signed = notification({ ...item, additionalData: { hmacSignature } });
  return { headers: {}, body: Buffer.from(JSON.stringify(signed)) };
}

/** Changes the item before it is signed, or on the way. */
function changeItem(chance: Chance, name: string, apply: (item: Item) => Item): Change {
  const rewrite = (body: Buffer): Buffer => {
    try {
      return Buffer.from(JSON.stringify(notification(apply(itemOf(body)))));
    } catch {
      return body;
    }
  };
  return chance.below(2) === 0
    ? before(`${name} before signing`, (parts) => ({ ...parts, body: rewrite(parts.body) }))
    : after(name, (sample) => ({ ...sample, body: rewrite(sample.body) }));
}

function changeField(chance: Chance): Change {
  const name = chance.pick(FIELDS);
  const [how, value] = chance.pick<readonly [string, unknown]>([
    ["absent", undefined],
    ["null", null],
    ["empty", ""],
    ["a text", "x"],
    ["with a colon", "a:b"],
    ["a number", 7],
    ["a text of digits", "1000"],
    ["a fraction", 1.5],
    ["a large number", 2 ** 60],
    ["true", true],
    ["an object", {}],
    ["a list", ["x"]],
  ]);
  return changeItem(chance, `${name} ${how}`, (item) =>
    name === "value" || name === "currency"
      ? { ...item, amount: { ...(item["amount"] as Item), [name]: value } }
      : { ...item, [name]: value },
  );
}

function changeSignatureText(chance: Chance): Change {
  const [how, apply] = chance.pick<readonly [string, (text: string) => unknown]>([
    ["absent", () => undefined],
    ["empty", () => ""],
    ["a number", () => 7],
    ["with a character changed", (text) => text.replace(/^./, (char) => (char === "a" ? "b" : "a"))],
    ["without padding", (text) => text.replace(/=+$/, "")],
    ["with more padding", (text) => `${text}=`],
    ["in the url-safe alphabet", (text) => text.replaceAll("+", "-").replaceAll("/", "_")],
    ["with a space behind", (text) => `${text} `],
    ["with junk inside", (text) => `${text.slice(0, 5)}!${text.slice(5)}`],
    ["with junk behind", (text) => `${text}junk`],
    ["cut", (text) => text.slice(0, -4)],
  ]);
  return after(`signature ${how}`, (sample) => {
    const item = itemOf(sample.body);
    const additionalData = { hmacSignature: apply(signatureOf(sample.body)) };
    return { ...sample, body: Buffer.from(JSON.stringify(notification({ ...item, additionalData }))) };
  });
}

function change(chance: Chance): Change {
  switch (chance.below(8)) {
    case 0:
      return changeBody(chance);
    case 1:
      return chance.pick([
        changeSecret(chance),
        after("secret in small letters", (sample) => ({ ...sample, secret: sample.secret.toLowerCase() })),
        before("short secret", (parts) => ({ ...parts, secret: parts.secret.slice(0, 20) })),
      ]);
    case 2:
      return chance.pick([
        changeItem(chance, "amount absent", ({ amount: _amount, ...item }) => item),
        changeItem(chance, "field that is not signed", (item) => ({ ...item, paymentMethod: "mc" })),
        after("two items", (sample) => {
          const { notificationItems } = notification(itemOf(sample.body));
          const twice = { live: "false", notificationItems: [...notificationItems, ...notificationItems] };
          return { ...sample, body: Buffer.from(JSON.stringify(twice)) };
        }),
        after("a broken byte in a field that is not signed", (sample) => ({
          ...sample,
          body: Buffer.from(sample.body.toString("latin1").replace('"visa"', '"vis\u00ff"'), "latin1"),
        })),
        after("name twice", (sample) => ({
          ...sample,
          body: Buffer.from(
            sample.body.toString().replace('"eventCode":', '"eventCode":"OTHER","eventCode":'),
          ),
        })),
      ]);
    case 3:
    case 4:
      return changeSignatureText(chance);
    default:
      return changeField(chance);
  }
}

/** As `never`: the library's own type of it has fields that no notification needs. */
function judgedItem(body: Buffer): never {
  const { notificationItems } = JSON.parse(body.toString()) as ReturnType<typeof notification>;
  return notificationItems[0]?.NotificationRequestItem as never;
}
