import { createReceiver } from "posthorn";
import { fetchHandler } from "posthorn/fetch";
import { memoryStore } from "posthorn/memory";
import { createSigner, generateSecret, sign, standardWebhooks } from "posthorn/verify";

const ADDRESS = "https://shop.example.com/webhooks/acme";

/** The last part of the path. @param {Request} request */
const source = ({ url }) => new URL(url).pathname.split("/").at(-1) ?? "";

/** A receiver as an edge function mounts it. @param {string} secret @returns {{ handler: (request: Request) => Promise<Response>, seen: Uint8Array[] }} */
function mounted(secret) {
  /** @type {Uint8Array[]} */
  const seen = [];
  const receiver = createReceiver({
    store: memoryStore(),
    sources: { acme: standardWebhooks({ secrets: secret }) },
    handlers: { "*": (event) => void seen.push(event.body) },
    observer: () => undefined,
  });
  return { handler: fetchHandler(receiver, { source }), seen };
}

/** @type {Record<string, Uint8Array<ArrayBuffer>>} */
const BODIES = {
  spaced: new TextEncoder().encode('{ "type" : "a.b",  "name": "Zo\\u00eb", "amount": 1.0 }'),
  notUtf8: new Uint8Array([0x7b, 0xff, 0xfe, 0x80, 0x00, 0x7d]),
  megabyte: new Uint8Array(1_000_000).fill(0x61),
  empty: new Uint8Array(0),
};

/** Posts each body twice, and the first one changed and to nobody: what was answered, and whether the bytes arrived exactly. */
export async function fetchDoor() {
  // Not at the start of the file: workers may not ask for chance before a request.
  const secret = generateSecret();
  const { handler, seen } = mounted(secret);
  /** @type {Record<string, unknown>} */
  const told = {};
  for (const [name, body] of Object.entries(BODIES)) {
    const headers = await sign(createSigner({ secrets: secret }), { id: `evt_${name}`, body });
    const post = async (address = ADDRESS, bytes = body) => {
      const reply = await handler(new Request(address, { method: "POST", headers, body: bytes }));
      return `${reply.status} ${reply.headers.get("posthorn-verdict") ?? "refused"}`;
    };
    const changed = await post(ADDRESS, new Uint8Array([...body.slice(0, 10), 0x20]));
    const nobody = await post("https://shop.example.com/webhooks/nobody");
    const first = await post();
    const exact = isSame(seen.at(-1), body);
    told[name] = { changed, nobody, first, exact, again: await post() };
  }
  return { told, handled: seen.length };
}

/** @param {Uint8Array | undefined} one @param {Uint8Array} other */
function isSame(one, other) {
  return one?.length === other.length && other.every((byte, n) => one[n] === byte);
}
