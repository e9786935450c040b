import { BYTEA, bytesOfText } from "./bytea.js";
import type { PgClient } from "./drivers.js";
import type { Answer, Parameter, Row, Value } from "./database.js";

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

/** A prepared statement, by its name. */
export interface Step {
  readonly name: string;
  readonly params: readonly Parameter[];
}

/**
 * Runs prepared statements one after another in one round trip, such as `begin` and the first of the transaction: each
 * round trip costs Node a write and the server a wake-up, together a fifth of a small transaction. After the first
 * failure, the rest is not run. Undefined where the connection has not parsed them all yet, or does not let others speak the
 * protocol (`pg-native`).
 */
export function runTogether(
  client: PgClient,
  steps: readonly Step[],
  onSent?: () => void,
): Promise<readonly Answer[]> | undefined {
  const parsed = (client as { readonly connection?: Partial<Wire> }).connection?.parsedStatements;
  if (parsed === undefined || steps.some(({ name }) => parsed[name] === undefined)) return undefined;
  return new Promise((resolve, reject) => {
    const query = new StepsQuery(steps, { resolve, reject, onSent });
    (client as unknown as { query(query: StepsQuery): void }).query(query);
  });
}

interface StepsEnds {
  readonly resolve: (answers: readonly Answer[]) => void;
  readonly reject: (error: unknown) => void;
  /** Called before the first byte is written: a query that fails without it was never sent. */
  readonly onSent: (() => void) | undefined;
}

/** A query of our own for the client's queue: several statements before one `sync`. */
class StepsQuery {
  readonly #steps: readonly Step[];
  readonly #ends: StepsEnds;
  readonly #answers: Answer[] = [];
  #rows: Row[] = [];
  // Which columns of the current statement hold bytes.
  #bytes: readonly boolean[] = [];

  constructor(steps: readonly Step[], ends: StepsEnds) {
    this.#steps = steps;
    this.#ends = ends;
  }

  submit(wire: Wire): null {
    const bound = this.#steps.map(({ name, params }) => ({ statement: name, values: params.map(wireValue) }));
    this.#ends.onSent?.();
    // Without this, each message would be a write of its own.
    wire.stream.cork?.();
    try {
      for (const portal of bound) {
        wire.bind(portal);
        wire.describe({ type: "P" });
        wire.execute({});
      }
      wire.sync();
    } finally {
      wire.stream.uncork?.();
    }
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#bytes = fields.map(({ dataTypeID }) => dataTypeID === BYTEA);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(
      fields.map((field, n): Value => (field !== null && this.#bytes[n] ? bytesOfText(field) : field)),
    );
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#answers.push({ rows: this.#rows, command: text.split(" ", 1)[0] ?? "" });
    this.#rows = [];
  }

  handleError(error: unknown): void {
    this.#ends.reject(error);
  }

  handleReadyForQuery(): void {
    this.#ends.resolve(this.#answers);
  }

  handleEmptyQuery(): void {
    // No statement is empty.
  }

  handlePortalSuspended(): void {
    // No limit of rows is set.
  }

  handleCopyInResponse(): void {
    // Nothing is copied.
  }
}

/** As `bind` takes values: texts, and bytes as Buffers. */
function wireValue(value: Parameter): unknown {
  if (typeof value === "number") return String(value);
  if (value === null || typeof value === "string" || Buffer.isBuffer(value)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
