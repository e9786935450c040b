import type { TestCase } from "vitest/node";

declare module "vitest" {
  interface TaskMeta {
    skipReason?: string;
  }
}

/**
 * Options for `it` and `describe` that skip when there is a reason to, and say it in the report:
 * `it("a claim survives a restart", skipFor(!hasRedis && "no redis-server on the PATH"), async () => …)`.
 * Hooks of a skipped suite do not run. Inside a test, `context.skip("reason")` does the same.
 */
export function skipFor(reason: string | false | undefined): {
  skip?: boolean;
  meta?: { skipReason: string };
} {
  return reason === undefined || reason === false ? {} : { skip: true, meta: { skipReason: reason } };
}

/** Why a test was skipped, as far as it was said; undefined also for a test that ran. */
export function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === "skipped" ? (result.note ?? test.meta().skipReason) : undefined;
}
