import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import type { SecretSeal } from "../../../outbox/secret-seal.js";

// As they were written before there was a seal.
const PLAIN = /^wh(?:sec|sk)_/;

/**
 * Closes the secrets of endpoints for the database, and opens them. An endpoint whose secrets cannot be opened
 * reads as disabled, and says why: nothing of what waits for it is lost, and no other endpoint waits for it.
 */
export class EndpointSecrets {
  readonly #seal: SecretSeal | undefined;
  readonly #observer: Observer | undefined;
  /** The last version of each endpoint that was told of: it is read again and again. */
  readonly #told = new Map<string, number>();

  constructor(seal: SecretSeal | undefined, observer: Observer | undefined) {
    this.#seal = seal;
    this.#observer = observer;
  }

  /** Secrets as they are written. */
  closed(secrets: readonly string[]): readonly string[] {
    const seal = this.#seal;
    return seal === undefined ? secrets : secrets.map((secret) => seal.seal(secret));
  }

  /** An endpoint with the secrets that were written, as it is read. */
  opened(written: Endpoint): Endpoint {
    if (written.secrets.every((secret) => PLAIN.test(secret))) return written;
    try {
      const secrets = written.secrets.map((secret) => (PLAIN.test(secret) ? secret : this.#open(secret)));
      return Object.freeze({ ...written, secrets });
    } catch (error) {
      const found = error instanceof Error ? error.message : String(error);
      return this.#unopened(written, `its secrets cannot be opened: ${found}`);
    }
  }

  #open(secret: string): string {
    if (this.#seal === undefined) throw new Error("they are sealed, and the store was given no seal");
    return this.#seal.open(secret);
  }

  #unopened(written: Endpoint, because: string): Endpoint {
    const { id, version } = written;
    if (this.#told.get(id) !== version) {
      this.#told.set(id, version);
      notify(this.#observer, { kind: "endpoint_disabled", endpoint: id, because });
    }
    return Object.freeze({ ...written, secrets: [], state: "disabled", because });
  }
}
