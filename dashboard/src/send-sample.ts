import type { Source } from "posthorn/client";
import { api } from "./api.ts";
import { basePath } from "./base-path.ts";
import { canSign, signedSample } from "./sample.ts";

/** How a sample can be sent. */
export type Way = "signed" | "published";

/** Signed as its provider would, where the secret is still known; else published through the API. */
export function wayOf(source: Source | undefined, secret: string | undefined): Way {
  const signable = source !== undefined && secret !== undefined && canSign(source.scheme);
  return signable && isSecureContext ? "signed" : "published";
}

/** Sends a sample, and says under which id it is stored. */
export async function sendSample(source: Source | undefined, secret: string | undefined): Promise<string> {
  const id = [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  if (source === undefined || secret === undefined || wayOf(source, secret) === "published") {
    const event = { type: "hello.world", key: "first", data: { from: "the dashboard" } };
    const named = source === undefined ? event : { ...event, source: source.name, tenant: source.tenant };
    return (await api.events.publish({ ...named, id: `first_${id}` })).id;
  }
  const sample = await signedSample({ scheme: source.scheme, secret, nowMs: Date.now(), id });
  if (sample === undefined) throw new Error(`No sample is signed here for ${source.scheme}.`);
  const answer = await fetch(`${basePath}${source.path}`, {
    method: "POST",
    headers: { ...sample.headers, "content-type": "application/json" },
    body: sample.body,
    credentials: "omit",
  });
  if (!answer.ok) throw new Error(`The source answered ${answer.status}. Its rejected requests say why.`);
  const { items } = await api.events.list({ source: source.name, tenant: source.tenant, limit: 1 });
  const [newest] = items;
  if (newest === undefined)
    throw new Error("The source took it, and it is not in the list yet. Send another one.");
  return newest.id;
}
