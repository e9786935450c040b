import type { FastifyInstance } from "fastify";
import type { AuditQuery } from "posthorn/client";
import { idAt } from "posthorn/gateway";
import type { ApiParts } from "../api-parts.js";
import { cutPage, PAGE_QUERY, pageSchema } from "../page.js";
import type { PageQuery } from "../page.js";
import { problem } from "../problem.js";
import { PLAIN_TEXT, query, routeSchema } from "../route-schema.js";
import { SINCE, timeRange } from "../time-range.js";

type ListQuery = Omit<AuditQuery, "since" | "until"> &
  PageQuery & { readonly since?: string; readonly until?: string };

/** /audit: who changed what. */
export function registerAuditRoute(api: FastifyInstance, { registry, clock }: ApiParts): void {
  api.get<{ Querystring: ListQuery }>("/audit", { schema: LIST }, async ({ query: asked }) => {
    const { actor, action, kind, subject, after, limit, ...range } = asked;
    if ([actor, action, kind, subject].filter((each) => each !== undefined).length > 1) {
      throw problem(
        "request_invalid",
        "The audit is filtered by one of actor, action, kind and subject, with since and until: each has an index, and no two together have one.",
        { field: "action" },
      );
    }
    const { since, until } = timeRange(range, clock.now());
    const found = await registry.audit.listAudit({
      actor,
      action,
      kind,
      subject,
      from: since && idAt("aud", since.getTime()),
      before: after ?? (until && idAt("aud", until.getTime())),
      limit: limit + 1,
    });
    return cutPage(found, limit, { show: (entry) => entry, nameOf: ({ id }) => id });
  });
}

const LIST = routeSchema({
  operationId: "listAudit",
  summary: "Every change by the API, newest first: who, when, what, before and after.",
  tag: "audit",
  querystring: query({
    actor: { ...PLAIN_TEXT, description: "The id of a token." },
    action: { ...PLAIN_TEXT, description: "As `endpoint.update`." },
    kind: { ...PLAIN_TEXT, description: "As `endpoint`." },
    subject: { ...PLAIN_TEXT, maxLength: 700, description: "The id or name of what was changed." },
    since: SINCE,
    until: SINCE,
    ...PAGE_QUERY,
  }),
  answers: { 200: pageSchema("AuditEntry") },
});
