import { equalBytes } from "../../../bytes.js";
import type { Clock } from "../../../clock.js";
import { nameOfId } from "../../../incoming-name.js";
import type { IncomingEvent, IncomingName, Ingested } from "../../../outbox/ingest-store.js";

interface KnownName {
  /** Of the event that it names. */
  readonly id: string;
  readonly bodyHash: Uint8Array | undefined;
  /** By the monotonic clock. */
  readonly keepUntil: number;
}

/** Names under which events came in. */
export class IngestNames {
  readonly #clock: Clock;
  readonly #names = new Map<string, KnownName>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Says what becomes of an incoming event, and remembers its names unless it is a conflict. */
  add({ event, names, windowS = Infinity }: IncomingEvent): Ingested {
    const now = this.#clock.monotonic();
    const found = names.map((name) => ({ name, known: this.#known(event.tenant, name, now) }));
    const other = found.find(({ name, known }) => known !== undefined && isOther(name, known));
    if (other?.known !== undefined) return { kind: "conflict", id: other.known.id };
    const first = found.find(({ known }) => known !== undefined)?.known;
    const id = first?.id ?? event.id;
    for (const { name, known } of found) {
      const isRenewed = known === undefined || name.renews !== false;
      const keepUntil = Math.max(known?.keepUntil ?? 0, now + (isRenewed ? windowS * 1000 : 0));
      const bodyHash = name.bodyHash?.slice();
      this.#names.set(keyOf(event.tenant, name), { ...(known ?? { id, bodyHash }), keepUntil });
    }
    return { kind: first === undefined ? "stored" : "duplicate", id };
  }

  /** The ids of the events that came under these names. */
  idsOf(tenant: string, names: readonly string[]): readonly string[] {
    const now = this.#clock.monotonic();
    const found = names.map((name) => this.#known(tenant, { name, bodyHash: undefined }, now)?.id);
    return [...new Set(found.filter((id) => id !== undefined))];
  }

  /** Forgets names whose window has passed, oldest first; says how many. */
  forget(maxNames: number): number {
    const now = this.#clock.monotonic();
    const passed = [...this.#names]
      .filter(([, { keepUntil }]) => keepUntil <= now)
      .toSorted(([, one], [, other]) => one.keepUntil - other.keepUntil)
      .slice(0, maxNames);
    for (const [key] of passed) this.#names.delete(key);
    return passed.length;
  }

  /** Forgets the names of an event: that of its id, and the others of its source; says how many. */
  remove(
    tenant: string,
    {
      source,
      id,
      stored,
    }: { readonly source: string; readonly id: string; readonly stored: readonly string[] },
  ): number {
    const byId = this.#names.get(keyOf(tenant, { name: nameOfId(source, id), bodyHash: undefined }))?.id;
    const meant = new Set([...stored, ...(byId === undefined ? [] : [byId])]);
    const prefix = JSON.stringify([tenant, `${source}/`]).slice(0, -2);
    const gone = [...this.#names].filter(([key, named]) => key.startsWith(prefix) && meant.has(named.id));
    for (const [key] of gone) this.#names.delete(key);
    return gone.length;
  }

  #known(tenant: string, name: IncomingName, now: number): KnownName | undefined {
    const known = this.#names.get(keyOf(tenant, name));
    return known !== undefined && known.keepUntil > now ? known : undefined;
  }
}

function keyOf(tenant: string, { name }: IncomingName): string {
  return JSON.stringify([tenant, name]);
}

function isOther({ bodyHash }: IncomingName, known: KnownName): boolean {
  return bodyHash !== undefined && known.bodyHash !== undefined && !equalBytes(bodyHash, known.bodyHash);
}
