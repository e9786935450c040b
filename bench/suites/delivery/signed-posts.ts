import { createSigner, signSync } from "posthorn";
import { Pool } from "undici";
import type { SuiteContext } from "../../suite.js";
import { createKeys } from "../signed-requests.js";
import { BODY } from "../inbox/signed-events.js";
import type { ReceivingServer } from "./receiving-server.js";

/** How many requests are under way at once, whoever sends them: the default of the dispatcher. */
export const IN_FLIGHT = 128;

export const SECRET: string = createKeys().secret;

/** One event as it is posted, and as the queues of others carry it. */
export interface PostedEvent {
  readonly id: string;
  readonly key: string;
  readonly sequence: number;
  readonly body: string;
}

const TEXT = BODY.toString();

export function postedEvent(number: number, keys: number): PostedEvent {
  return { id: `evt_${number}`, key: `key_${number % keys}`, sequence: number, body: TEXT };
}

/** Sends one event, signed with its place in its lane, as the dispatcher does, and throws unless it is answered 200. */
export type Post = (event: PostedEvent) => Promise<void>;

/** The raw loop's way out: undici and the signature, and nothing else. */
export function openPost(context: SuiteContext, server: ReceivingServer): Post {
  const { origin, pathname: path } = new URL(server.url);
  const pool = new Pool(origin, { connections: IN_FLIGHT, keepAliveTimeout: 600_000 });
  context.onClose(() => pool.destroy());
  const signer = createSigner({ secrets: SECRET });
  return async ({ id, key, sequence, body: text }) => {
    const body = Buffer.from(text);
    const at = new Date();
    const lane = { generation: 1n, key, sequence: BigInt(sequence), after: BigInt(sequence - 1) };
    const signed = signSync(signer, { id, body, at, stamp: { lane, time: at, attempt: 1, replay: false } });
    const headers = { ...signed, "content-type": "application/json", "user-agent": "Posthorn" };
    const answer = await pool.request({ method: "POST", path, headers, body });
    // Unread, it would hold its connection.
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`Answered ${answer.statusCode}; expected 200.`);
  };
}

/** Posts so many events, `inFlight` at once. */
export async function postAll(
  post: Post,
  { events, keys, inFlight }: { events: number; keys: number; inFlight: number },
): Promise<void> {
  let next = 1;
  const postOn = async (): Promise<void> => {
    while (next <= events) await post(postedEvent(next++, keys));
  };
  await Promise.all(Array.from({ length: inFlight }, postOn));
}
