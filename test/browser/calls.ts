import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { parse } from "yaml";

/** One request of a page to the API. */
export interface ApiCall {
  /** `GET /lanes/12/waiting`. */
  readonly name: string;
  readonly startedAt: number;
  endedAt: number | undefined;
}

const API = /\/api\/v1(\/[^?]*)/;

/** A path as a person reads it; a slash inside of an id is no step. */
function plainPath(path: string): string {
  return path
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("/", "%2F"))
    .join("/");
}

/** Keeps every call that a page makes from now on. */
export function recordCalls(page: Page): ApiCall[] {
  const calls: ApiCall[] = [];
  const open = new Map<object, ApiCall>();
  page.on("request", (request) => {
    const path = API.exec(new URL(request.url()).pathname)?.[1];
    if (path === undefined) return;
    const call: ApiCall = {
      name: `${request.method()} ${plainPath(path)}`,
      startedAt: performance.now(),
      endedAt: undefined,
    };
    open.set(request, call);
    calls.push(call);
  });
  const end = (request: object): void => {
    const call = open.get(request);
    if (call !== undefined) call.endedAt = performance.now();
  };
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return calls;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Every operation of the OpenAPI document, as a pattern for the names of calls. */
export function publishedCalls(): readonly RegExp[] {
  const file = fileURLToPath(new URL("../../spec/openapi.yaml", import.meta.url));
  const { paths } = parse(readFileSync(file, "utf8")) as OpenApi;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => {
      const own = path.replace(/^\/api\/v1/, "").replaceAll(/\{[^}]+\}/g, "[^/]+");
      return new RegExp(`^${method.toUpperCase()} ${own}$`);
    }),
  );
}
