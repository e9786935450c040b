import { canonicalRule } from "./canonical-json.js";
import type { CanonicalRule } from "./canonical-json.js";
import { parseJsonPointer } from "./json-pointer.js";

/** What makes two requests of a source the same event. */
export type DedupRule =
  | { readonly by: "id" }
  | {
      /** `both`: known when either its id or its content is. */
      readonly by: "content" | "both";
      /** `raw`: the exact bytes; `json`: the canonical form of RFC 8785. */
      readonly content: "raw" | "json";
      /** JSON pointers to what counts; everything when it is left out. */
      readonly include?: readonly string[];
      /** JSON pointers to what does not count, such as the time of the attempt. */
      readonly exclude?: readonly string[];
    };

const MAX_POINTERS = 64;

/** What is wrong with a rule, and where; undefined when it can be used. */
export interface DedupFault {
  readonly field: "by" | "content" | "include" | "exclude";
  readonly fault: string;
}

/** Checks a rule that callers without types may have written. */
export function dedupFault(given: unknown): DedupFault | undefined {
  const { by, content, include, exclude } = Object(given) as Readonly<Record<string, unknown>>;
  if (by !== "id" && by !== "content" && by !== "both")
    return { field: "by", fault: 'expected "id", "content" or "both"' };
  if (by === "id") {
    if (content === undefined && include === undefined && exclude === undefined) return undefined;
    const fault = 'found with by "id", which looks at no content; expected by "content" or "both"';
    return { field: "content", fault };
  }
  if (content !== "raw" && content !== "json") return { field: "content", fault: 'expected "raw" or "json"' };
  return pointersFault("include", include, content) ?? pointersFault("exclude", exclude, content);
}

function pointersFault(
  field: "include" | "exclude",
  given: unknown,
  content: "raw" | "json",
): DedupFault | undefined {
  if (given === undefined) return undefined;
  if (content === "raw")
    return { field, fault: 'found with content "raw", of which all bytes count; expected content "json"' };
  const isRight =
    Array.isArray(given) &&
    given.length <= MAX_POINTERS &&
    given.every((text) => parseJsonPointer(text) !== undefined);
  return isRight
    ? undefined
    : { field, fault: `expected up to ${MAX_POINTERS} JSON pointers such as "/data/id"` };
}

/** What of a body counts, of a checked rule; undefined: its exact bytes. */
export function contentRule(rule: DedupRule): CanonicalRule | undefined {
  if (rule.by === "id" || rule.content === "raw") return undefined;
  return canonicalRule(pointers(rule.include), pointers(rule.exclude));
}

function pointers(texts: readonly string[] = []) {
  return texts.map((text) => parseJsonPointer(text)).filter((pointer) => pointer !== undefined);
}
