import type { Call, Caller } from "./caller.js";
import type {
  AuditEntry,
  AuditQuery,
  DeadGroup,
  DeadNote,
  DeadQuery,
  Operation,
  OperationInput,
  OperationItem,
  OperationRun,
} from "./operation-resources.js";
import type { DeadLetter, Page } from "./resources.js";

interface PageWish {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** Dead letters, alone and in groups. */
export interface DeadCalls {
  /** Newest first. */
  list(
    query?: DeadQuery & PageWish & { readonly order?: "newest" | "oldest" | undefined },
  ): Promise<Page<DeadLetter>>;
  /** Dead letters that died alike, largest group first. */
  groups(query?: Omit<DeadQuery, "key" | "since" | "until">): Promise<Page<DeadGroup>>;
  /** Writes what is known about a group; null takes it away. */
  note(groupId: string, text: string | null): Promise<{ readonly note: DeadNote | null }>;
}

/** Operations on many deliveries or lanes at once: planned, run, slowed, stopped. */
export interface OperationCalls {
  /** Plans and runs it in one call; with `dryRun` it says what it would do, and `run` runs it by the id of the answer. */
  create(input: OperationInput): Promise<Operation>;
  run(id: string, run?: OperationRun): Promise<Operation>;
  /** Newest first. */
  list(
    query?: PageWish & { readonly state?: string | undefined; readonly verb?: string | undefined },
  ): Promise<Page<Operation>>;
  get(id: string): Promise<Operation>;
  /** Makes it slower or faster: items per second. */
  rate(id: string, rate: number): Promise<Operation>;
  /** After the answer, at most the step that is under way is finished. */
  stop(id: string): Promise<Operation>;
  items(
    id: string,
    query?: PageWish & { readonly result?: string | undefined },
  ): Promise<Page<OperationItem>>;
}

/** Who changed what, and when. */
export interface AuditCalls {
  /** Newest first. */
  list(query?: AuditQuery & PageWish): Promise<Page<AuditEntry>>;
}

export function deadCalls(caller: Caller): DeadCalls {
  return {
    list: (query = {}) => caller.json(read(["dead"], query)),
    groups: (query = {}) => caller.json(read(["dead", "groups"], query)),
    note: (groupId, text) =>
      caller.json({
        method: "PUT",
        path: ["dead", "groups", groupId, "note"],
        body: { text },
        repeatable: true,
      }),
  };
}

export function operationCalls(caller: Caller): OperationCalls {
  return {
    create: (input) => caller.json(post([], input)),
    run: (id, run = {}) => caller.json({ ...post([id, "run"], run), repeatable: true }),
    list: (query = {}) => caller.json(read(["operations"], query)),
    get: (id) => caller.json(read(["operations", id])),
    rate: (id, rate) =>
      caller.json({ method: "PATCH", path: ["operations", id], body: { rate }, repeatable: true }),
    stop: (id) => caller.json({ ...post([id, "stop"]), repeatable: true }),
    items: (id, query = {}) => caller.json(read(["operations", id, "items"], query)),
  };
}

export function auditCalls(caller: Caller): AuditCalls {
  return { list: (query = {}) => caller.json(read(["audit"], query)) };
}

function read(path: readonly string[], query?: object): Call {
  return { method: "GET", path, query: query as Call["query"], repeatable: true };
}

function post(path: readonly string[], body?: unknown): Call {
  return { method: "POST", path: ["operations", ...path], body, repeatable: false };
}
