import type { Settings } from "../config/settings.js";

/**
 * Whether a node only looks and intervenes, on a Postgres that may be an application's own: then it changes no tables unasked, and
 * runs the operations that it is asked for.
 */
export function isBesideApplication({ roles, database }: Pick<Settings, "roles" | "database">): boolean {
  return database !== undefined && roles.length === 1 && roles[0] === "api";
}
