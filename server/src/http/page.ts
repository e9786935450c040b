import type { Page } from "posthorn/client";
import { problem, shown } from "./problem.js";
import { PLAIN_TEXT } from "./route-schema.js";

/** Which part of a list is asked for. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string;
}

/** The query parameters of every list. */
export const PAGE_QUERY = {
  limit: { type: "integer", minimum: 1, maximum: 1000, default: 100, description: "How many at most." },
  after: { ...PLAIN_TEXT, maxLength: 1000, description: "`next` of the page before." },
} as const;

/** The schema of one page of a resource. */
export function pageSchema(resource: string): object {
  return {
    type: "object",
    required: ["items", "next"],
    properties: {
      items: { type: "array", items: { $ref: `${resource}#` } },
      next: { type: ["string", "null"], description: "Hand it back as `after`; null at the end." },
    },
  };
}

/** The place after which a list goes on, if it is of the form that the list's own cursors have. */
export function checkedCursor(after: string | undefined, form: RegExp): string | undefined {
  if (after === undefined || form.test(after)) return after;
  throw problem(
    "request_invalid",
    `\`after\` is ${shown(after)}, where no page of this list ended. Hand back \`next\` of the page before, as it is, or leave it out to begin.`,
    { field: "after" },
  );
}

/** Makes a page of `limit` items. The caller reads one more: if it is there, there is a next page. */
export function cutPage<Item, Json>(
  found: readonly Item[],
  limit: number,
  { show, nameOf }: { readonly show: (item: Item) => Json; readonly nameOf: (item: Item) => string },
): Page<Json> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(show), next: found.length > limit && last !== undefined ? nameOf(last) : null };
}
