import type { PgClient } from "./client.js";
import type { Answer, Parameter, Row } from "./database.js";

/** The protocol's messages, as `pg` offers them to queries that are not its own, like those of pg-cursor. */
interface Wire {
  readonly stream: { cork?(): void; uncork?(): void };
  /** Texts by the names of the statements that the server has parsed on this connection. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  bind(portal: { readonly statement: string; readonly values?: unknown[] }): void;
  describe(portal: { readonly type: "P" }): void;
  execute(portal: object): void;
  sync(): void;
}

/** Two prepared statements, by name: `begin`, and the first one of the transaction. */
export interface Beginning {
  readonly begin: string;
  readonly first: string;
  readonly params: readonly Parameter[];
}

/**
 * Begins a transaction and runs its first statement in one round trip: each costs Node a write and the server a
 * wake-up, together a fifth of a small transaction. Undefined where the connection has not parsed both yet, or does
 * not let others speak the protocol (`pg-native`).
 */
export function beginWith(client: PgClient, beginning: Beginning): Promise<Answer> | undefined {
  const parsed = (client as { readonly connection?: Partial<Wire> }).connection?.parsedStatements;
  if (parsed?.[beginning.begin] === undefined || parsed[beginning.first] === undefined) return undefined;
  return new Promise((resolve, reject) => {
    const query = new BeginQuery(beginning, resolve, reject);
    (client as unknown as { query(query: BeginQuery): void }).query(query);
  });
}

/** A query of our own for the client's queue: two statements before one `sync`. */
class BeginQuery {
  readonly #beginning: Beginning;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #rows: Row[] = [];
  #command = "";

  constructor(beginning: Beginning, resolve: (answer: Answer) => void, reject: (error: unknown) => void) {
    this.#beginning = beginning;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(wire: Wire): null {
    const { begin, first, params } = this.#beginning;
    const values = params.map(wireValue);
    // Uncorked, each message would be a write of its own.
    wire.stream.cork?.();
    try {
      wire.bind({ statement: begin });
      wire.execute({});
      wire.bind({ statement: first, values });
      wire.describe({ type: "P" });
      wire.execute({});
      wire.sync();
    } finally {
      wire.stream.uncork?.();
    }
    return null;
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#rows.push(fields);
  }

  /** The last one counts: the first is that of `begin`. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#command = text.split(" ", 1)[0] ?? "";
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve({ rows: this.#rows, command: this.#command });
  }

  handleRowDescription(): void {
    // Every column is text.
  }

  handleEmptyQuery(): void {
    // Neither statement is empty.
  }

  handlePortalSuspended(): void {
    // No limit of rows is set.
  }

  handleCopyInResponse(): void {
    // Nothing is copied.
  }
}

/** As `bind` takes them: texts, and bytes in the one class that it knows as such. */
function wireValue(value: Parameter): unknown {
  if (typeof value === "number") return String(value);
  if (value === null || typeof value === "string" || Buffer.isBuffer(value)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
