/** What the audit calls a change: `endpoint.update` of an `endpoint`. */
export interface AuditedAction {
  readonly action: string;
  readonly kind: string;
}

// The plural of a path, and what one of it is called.
const KINDS: Readonly<Record<string, string>> = {
  deliveries: "delivery",
  "dead/groups": "dead_group",
  "set-aside": "set_aside",
};

/** Routes that change nothing an operator answers for. */
const NOT_CHANGES: ReadonlySet<string> = new Set([
  // Data: an event has its own story.
  "POST /events",
]);

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  PUT: "replace",
  PATCH: "update",
  DELETE: "remove",
};

/** Undefined where the route only reads. Every other one is audited, whether somebody thought of it or not. */
export function actionOf(method: string, route: string): AuditedAction | undefined {
  const verb = VERBS[method];
  if (verb === undefined || NOT_CHANGES.has(`${method} ${route}`)) return undefined;
  const [path = "", ...rest] = route.replace(/^\//, "").split(/\/:\w+/);
  const kind = KINDS[path] ?? path.replaceAll("/", "_").replace(/s$/, "");
  const deed = rest.join("").replace(/^\//, "").replaceAll("/", "_");
  return { action: `${kind}.${deed === "" ? verb : deed}`, kind };
}
