import type { Source } from "posthorn/client";
import { api } from "../../api/api.ts";
import { basePath } from "../../place/base-path.ts";
import { canSign, sampleBody, sampleId, signed } from "./sample.ts";
import type { Sample } from "./sample.ts";

/** How a sample can be sent. */
export type Way = "signed" | "published";

/** Signed as its provider would, where the secret is still known; else published through the API. */
export function wayOf(source: Source | undefined, secret: string | undefined): Way {
  const signable = source !== undefined && secret !== undefined && canSign(source.scheme);
  return signable && isSecureContext ? "signed" : "published";
}

/** Sends a sample, and says under which id it is stored. */
export async function sendSample(source: Source | undefined, secret: string | undefined): Promise<string> {
  const wish = { scheme: source?.scheme ?? "", nowMs: Date.now(), id: sampleId() };
  if (source === undefined || secret === undefined || wayOf(source, secret) === "published") {
    const event = { type: "hello.world", key: "first", data: { from: "the dashboard" } };
    const named = source === undefined ? event : { ...event, source: source.name, tenant: source.tenant };
    return (await api.events.publish({ ...named, id: `first_${wish.id}` })).id;
  }
  const sample = await signed({ ...wish, secret, body: sampleBody(wish) });
  if (sample === undefined) throw new Error(`No sample is signed here for ${source.scheme}.`);
  const answer = await sendTo(source, sample);
  if (answer.status >= 300)
    throw new Error(`The source answered ${answer.status}. Its rejected requests say why.`);
  return newestOf(source);
}

/** Posts to the address of a source, as its provider would: without the cookie of this page. */
export async function sendTo(
  source: Pick<Source, "path">,
  { headers, body }: Sample,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${basePath}${source.path}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
    credentials: "omit",
  });
  return { status: answer.status, text: await answer.text() };
}

/** The id of what a source took in last. */
export async function newestOf({ name, tenant }: Pick<Source, "name" | "tenant">): Promise<string> {
  const { items } = await api.events.list({ source: name, tenant, limit: 1 });
  const [newest] = items;
  if (newest === undefined)
    throw new Error("The source took it, and it is not in the list yet. Send another one.");
  return newest.id;
}
