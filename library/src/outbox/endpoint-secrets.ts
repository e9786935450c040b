import type { Observer } from "../observer.js";
import { notify } from "../observer.js";
import type { Endpoint, EndpointStamp } from "./endpoint.js";
import type { SecretSeal } from "./secret-seal.js";

// As they are before they are sealed: what was stored without a seal is still read.
const PLAIN = /^whs(ec|k)_/;

/**
 * Closes the secrets of endpoints for the database, and opens them. One whose secrets cannot be opened reads as
 * disabled, and this process claims nothing of it: its events wait for whoever has the key, and are not given up as
 * unsendable. Its row is left as it is, so that one node with a wrong key stops no other.
 */
export class EndpointSecrets {
  readonly #seal: SecretSeal | undefined;
  readonly #observer: Observer | undefined;
  // The states whose secrets were looked at last.
  readonly #stamps = new Map<string, string>();
  readonly #unopened = new Set<string>();

  constructor(seal: SecretSeal | undefined, observer: Observer | undefined) {
    this.#seal = seal;
    this.#observer = observer;
  }

  /** As they are written. */
  closed(secrets: readonly string[]): readonly string[] {
    const seal = this.#seal;
    return seal === undefined ? secrets : secrets.map((secret) => seal.seal(secret));
  }

  /** The endpoint of a row, as everyone sees it. */
  opened(endpoint: Endpoint): Endpoint {
    const { id } = endpoint;
    const told = this.#unopened.has(id) && this.isKnown(endpoint);
    this.#stamps.set(id, stampOf(endpoint));
    try {
      const secrets = endpoint.secrets.map((secret) => this.#open(secret));
      this.#unopened.delete(id);
      return { ...endpoint, secrets };
    } catch (error) {
      const because = `its secrets cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
      this.#unopened.add(id);
      if (!told) notify(this.#observer, { kind: "endpoint_disabled", endpoint: id, because });
      return { ...endpoint, secrets: [], state: "disabled", because };
    }
  }

  /** Whether its secrets, as they are in this state of the endpoint, were looked at. */
  isKnown(endpoint: EndpointStamp): boolean {
    return this.#stamps.get(endpoint.id) === stampOf(endpoint);
  }

  /** Whether its secrets may have been changed since they were looked at. */
  isOutdated(endpoint: EndpointStamp): boolean {
    return (this.#stamps.get(endpoint.id) ?? stampOf(endpoint)) !== stampOf(endpoint);
  }

  /** Endpoints of which nothing can be sent from here. */
  get unopened(): ReadonlySet<string> {
    return this.#unopened;
  }

  /** It was removed. */
  forget(id: string): void {
    this.#stamps.delete(id);
    this.#unopened.delete(id);
  }

  #open(secret: string): string {
    if (PLAIN.test(secret)) return secret;
    if (this.#seal === undefined) throw new Error("they are sealed, and the store was given no seal");
    return this.#seal.open(secret);
  }
}

function stampOf({ version, mark = "" }: EndpointStamp): string {
  return `${version} ${mark}`;
}
