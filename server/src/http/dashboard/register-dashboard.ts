import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Settings } from "../../config/settings.js";
import { notFound } from "../problem.js";
import type { BuiltFiles } from "./built-files.js";
import { IMMUTABLE, PAGE_HEADERS } from "./page-headers.js";

/** The pages. None of them begins as a path of the API, of ingest or of health does. */
const PAGES = [
  "/",
  "/sign-in",
  "/start",
  "/more",
  "/events",
  "/events/:id",
  "/deliveries/:id",
  "/lanes",
  "/lanes/:id",
  "/dead",
  "/operations",
  "/operations/:id",
  "/tail",
  "/rejected",
  "/rejected/:id",
  "/endpoints",
  "/endpoints/:id",
  "/sources",
  "/sources/:name",
  "/compose",
  "/inbox",
  "/inbox/held",
  "/inbox/refused",
  "/inbox/:name/:id",
  "/consumers",
  "/consumers/:id",
  "/audit",
  "/tokens",
  "/settings",
];

const METHODS = ["GET", "HEAD"];

/** The dashboard: one document for all pages, and the files that it names. */
export function registerDashboard(
  app: FastifyInstance,
  { page, assets }: BuiltFiles,
  settings: Pick<Settings, "behindProxy">,
): void {
  const prefixOf = settings.behindProxy ? forwardedPrefix : (): string => "";
  const sendPage = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply
      .headers(PAGE_HEADERS)
      .type("text/html; charset=utf-8")
      .send(pageUnder(page, prefixOf(request)));
  for (const url of PAGES) app.route({ method: METHODS, url, schema: { hide: true }, handler: sendPage });
  app.route<{ Params: { name: string } }>({
    method: METHODS,
    url: "/assets/:name",
    schema: { hide: true },
    handler: (request, reply) => {
      const file = assets.get(request.params.name);
      if (file === undefined) throw notFound("file", request.params.name);
      const zipped = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
      reply.headers({ ...PAGE_HEADERS, "cache-control": IMMUTABLE, vary: "accept-encoding" });
      if (zipped) reply.header("content-encoding", "gzip");
      return reply.type(file.type).send(zipped ? file.gzipped : file.bytes);
    },
  });
}

/** The path under which a proxy shows this server, without a slash at the end. It goes into the page: strictly a path. */
function forwardedPrefix({ headers }: FastifyRequest): string {
  const given = headers["x-forwarded-prefix"];
  const path = typeof given === "string" ? given.replace(/\/+$/, "") : "";
  return /^(\/[\w.~-]+)+$/.test(path) && path.length <= 255 ? path : "";
}

/** The document with its files and its base under a prefix. `<base>` would do it too, and is what the policy forbids. */
export function pageUnder(page: string, prefix: string): string {
  return page
    .replaceAll('"./assets/', `"${prefix}/assets/`)
    .replace('name="posthorn-base" content=""', `name="posthorn-base" content="${prefix}"`);
}
