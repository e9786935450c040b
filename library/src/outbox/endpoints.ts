import type { Clock } from "../clock.js";
import { PosthornError } from "../posthorn-error.js";
import type { Endpoint, EndpointChange } from "./endpoint.js";
import { changeOf, endpointOf } from "./endpoint-options.js";
import type { EndpointOptions, EndpointRules, EndpointUpdate } from "./endpoint-options.js";
import type { OutboxErrorCode } from "./outbox-errors.js";
import type { OutboxStore } from "./outbox-store.js";

type EndpointStore = Pick<
  OutboxStore<never>,
  "addEndpoint" | "changeEndpoint" | "removeEndpoint" | "readEndpoints" | "listEndpoints"
>;

/** The endpoints of an outbox. */
export class Endpoints {
  readonly #store: EndpointStore;
  readonly #clock: Clock;
  readonly #rules: EndpointRules;

  constructor(store: EndpointStore, clock: Clock, rules: EndpointRules) {
    this.#store = store;
    this.#clock = clock;
    this.#rules = rules;
  }

  /** Adds an endpoint: it gets what is published from now on. */
  async create(options: EndpointOptions): Promise<Endpoint> {
    const endpoint = endpointOf(options, this.#clock.now(), this.#rules);
    if (await this.#store.addEndpoint(endpoint)) return endpoint;
    throw new PosthornError<OutboxErrorCode>(
      "endpoint_invalid",
      `There is an endpoint ${endpoint.id} already. Update it, or choose another id.`,
    );
  }

  /** Changes an endpoint; the next attempt of everything that waits for it uses the new values. */
  update(id: string, update: EndpointUpdate): Promise<Endpoint> {
    return this.#change(id, changeOf(update, this.#rules));
  }

  /** Lets everything wait, in order, until `resume`. What is under way is finished. */
  pause(id: string): Promise<Endpoint> {
    return this.#change(id, { state: "paused", because: undefined });
  }

  /** Ends a pause, or enables an endpoint that was disabled. */
  resume(id: string): Promise<Endpoint> {
    return this.#change(id, { state: "active", because: undefined });
  }

  /** Removes an endpoint; what waits for it is cancelled. */
  async remove(id: string): Promise<void> {
    if (!(await this.#store.removeEndpoint(id))) throw unknown(id);
  }

  async get(id: string): Promise<Endpoint | undefined> {
    const [endpoint] = await this.#store.readEndpoints([id]);
    return endpoint;
  }

  /** In the order of their ids, from after `after` on. */
  list(
    page: { readonly tenant?: string; readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly Endpoint[]> {
    return this.#store.listEndpoints({ limit: 100, ...page });
  }

  async #change(id: string, change: EndpointChange): Promise<Endpoint> {
    const changed = await this.#store.changeEndpoint(id, change);
    if (changed === undefined) throw unknown(id);
    return changed;
  }
}

function unknown(id: string): PosthornError<OutboxErrorCode> {
  return new PosthornError("endpoint_unknown", `There is no endpoint ${JSON.stringify(id).slice(0, 80)}.`);
}
