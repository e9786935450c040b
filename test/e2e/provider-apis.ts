import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

// Local servers with the shapes that the APIs of GitHub and Stripe have: field names, paging and headers as documented.

/** A delivery or an event that the provider made. */
export interface Made {
  readonly id: string;
  readonly at: Date;
  readonly body: string;
  /** Of a delivery: what was sent with it. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ProviderApi {
  readonly baseUrl: string;
  /** Paths and queries that were asked for, in order. */
  readonly asked: string[];
  /** Headers of the last request. */
  last(): IncomingMessage["headers"];
  /** Answers with this status from now on, or only where the path ends so; undefined = as documented. */
  failWith(status: number | undefined, only?: Failing): void;
}

export interface Failing {
  readonly path?: RegExp;
  readonly headers?: Readonly<Record<string, string>>;
}

type Answer = { readonly body: string; readonly headers?: Readonly<Record<string, string>> } | undefined;

async function serve(answer: (url: URL, origin: string) => Answer): Promise<ProviderApi> {
  const asked: string[] = [];
  let last: IncomingMessage["headers"] = {};
  let failure: (Failing & { readonly status: number }) | undefined;
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    asked.push(`${request.method} ${request.url}`);
    last = request.headers;
    const url = new URL(request.url ?? "/", origin);
    const failed = failure !== undefined && (failure.path ?? /^/).test(url.pathname) ? failure : undefined;
    const found = failed === undefined ? answer(url, origin) : undefined;
    response.writeHead(failed?.status ?? (found === undefined ? 404 : 200), {
      "content-type": "application/json",
      ...failed?.headers,
      ...found?.headers,
    });
    response.end(found?.body ?? '{"message":"Not Found"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    last: () => last,
    failWith: (status, only) => (failure = status === undefined ? undefined : { ...only, status }),
  };
}

/** GitHub's deliveries under a path, newest first, by a cursor in the header `Link`. */
export function githubApi(path: string, deliveries: () => readonly Made[]): Promise<ProviderApi> {
  return serve((url, origin) => {
    const newest = deliveries().toReversed();
    if (url.pathname !== path) {
      const number = Number(url.pathname.slice(path.length + 1));
      const made = url.pathname.startsWith(`${path}/`) ? deliveries()[number - 1] : undefined;
      return made && { body: githubDelivery(made, number) };
    }
    const size = Number(url.searchParams.get("per_page") ?? 30);
    const start = Number(url.searchParams.get("cursor")?.replace("v1_", "") ?? 0);
    const list = newest.slice(start, start + size);
    const total = newest.length;
    const body = `[${list.map((made, n) => githubSummary(made, total - start - n)).join(",")}]`;
    const next = `<${origin}${path}?per_page=${size}&cursor=v1_${start + size}>; rel="next"`;
    return start + size < total ? { body, headers: { link: next } } : { body };
  });
}

function githubSummary({ id, at }: Made, number: number): string {
  const fields = { guid: id, delivered_at: at.toISOString(), redelivery: false, duration: 0.27 };
  const status = { status: "failed to connect to host", status_code: 502, event: "issues", action: "opened" };
  const ids = { installation_id: 123, repository_id: 456, url: "", throttled_at: null };
  return JSON.stringify({ id: number, ...fields, ...status, ...ids });
}

function githubDelivery({ id, at, body, headers }: Made, number: number): string {
  const summary = githubSummary({ id, at, body }, number).slice(0, -1);
  const response = JSON.stringify({ headers: {}, payload: "failed to connect to host" });
  return `${summary},"request":{"headers":${JSON.stringify(headers ?? {})},"payload":${body}},"response":${response}}`;
}

/** Stripe's list of events, newest first, by `starting_after` and `has_more`. */
export function stripeApi(events: () => readonly Made[]): Promise<ProviderApi> {
  return serve((url) => {
    if (url.pathname !== "/v1/events") return undefined;
    const since = Number(url.searchParams.get("created[gte]") ?? 0) * 1000;
    const newest = events()
      .filter(({ at }) => at.getTime() >= since)
      .toReversed();
    const after = url.searchParams.get("starting_after");
    const start = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
    const size = Number(url.searchParams.get("limit") ?? 10);
    const data = newest.slice(start, start + size).map(({ body }) => body);
    const more = start + size < newest.length;
    return { body: `{"object":"list","url":"/v1/events","has_more":${more},"data":[${data.join(",")}]}` };
  });
}
