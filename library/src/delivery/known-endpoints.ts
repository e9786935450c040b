import type { Endpoint } from "../outbox/endpoint.js";
import type { Signer } from "../signature/sign.js";
import { createSigner } from "../signature/sign.js";
import type { Claim } from "../lanes/lane-store.js";
import type { DeliveryStore } from "./delivery-store.js";

/** An endpoint, and its signer, which is made once for all attempts. */
export interface KnownEndpoint {
  readonly endpoint: Endpoint;
  /** Undefined when its secrets cannot be read. */
  readonly signer: Signer | undefined;
}

/** The endpoints of claims, each read again when it is not the one that the claim names. */
export class KnownEndpoints {
  readonly #store: Pick<DeliveryStore, "readEndpoints">;
  readonly #known = new Map<string, KnownEndpoint>();

  constructor(store: Pick<DeliveryStore, "readEndpoints">) {
    this.#store = store;
  }

  /** Reads the endpoints of these claims that are unknown or outdated, in one query. */
  async learn(claims: readonly Claim[]): Promise<void> {
    const missing = new Set<string>();
    for (const { consumer: endpoint } of claims) if (!this.#isCurrent(endpoint)) missing.add(endpoint.id);
    if (missing.size === 0) return;
    for (const endpoint of await this.#store.readEndpoints([...missing])) {
      this.#known.set(endpoint.id, { endpoint, signer: signerOf(endpoint) });
      missing.delete(endpoint.id);
    }
    for (const id of missing) this.#known.delete(id);
  }

  /** Undefined when the endpoint was removed meanwhile. */
  get(id: string): KnownEndpoint | undefined {
    return this.#known.get(id);
  }

  // A higher version is not enough: after a failover that lost changes, versions are counted again, and what is known here
  // may be an address that was never confirmed.
  #isCurrent({ id, version, mark }: Claim["consumer"]): boolean {
    const known = this.#known.get(id)?.endpoint;
    return known !== undefined && known.version === version && known.mark === mark;
  }
}

function signerOf({ secrets }: Endpoint): Signer | undefined {
  try {
    return createSigner({ secrets });
  } catch {
    // The secrets were valid when they were stored; somebody may have changed the database since.
    return undefined;
  }
}
