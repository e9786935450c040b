import { encodeHex } from "../../bytes.js";
import { discord, INTERACTIONS } from "../../signature/schemes/discord.js";
import { ed25519Signer } from "./private-key.js";
import { numberOf, unixSeconds } from "./sender.js";
import type { PlannedEvent, Sender } from "./sender.js";

const APPLICATION_ID = "1234560123453231555";

export const DISCORD_SENDER: Sender = {
  type: "ENTITLEMENT_CREATE",
  bind: ({ secrets, clock }) => ({
    // Reading a request takes no key.
    verifier: discord({ keys: { keys: [] }, clock }),
    signers: secrets.map(ed25519Signer),
  }),
  write: (event, { at, signatures: [signature = new Uint8Array()] }) => ({
    headers: {
      "x-signature-timestamp": String(unixSeconds(at)),
      "x-signature-ed25519": encodeHex(signature),
    },
    body: interaction(event) ?? webhookEvent(event),
  }),
};

/** An interaction, where the type is one of theirs: only these have an id. */
function interaction({ id, type, data, nonce }: PlannedEvent): object | undefined {
  const number = Object.entries(INTERACTIONS).find(([, name]) => name === type)?.[0];
  if (number === undefined) return undefined;
  const common = { application_id: APPLICATION_ID, token: nonce, version: 1 };
  return { ...common, id: id ?? String(numberOf(nonce)), type: Number(number), data };
}

function webhookEvent({ type, time, data, nonce }: PlannedEvent): object {
  const subject = { id: String(numberOf(nonce)), sku_id: "1019475255913222144", ...data };
  const event = { type, timestamp: time.toISOString(), data: subject };
  return { version: 1, application_id: APPLICATION_ID, type: 1, event };
}
