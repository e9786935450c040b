import type { Clock } from "../clock.js";
import { PosthornError } from "../posthorn-error.js";
import type { Endpoint, EndpointChange, EndpointView } from "./endpoint.js";
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
  async create(options: EndpointOptions): Promise<EndpointView> {
    const endpoint = endpointOf(options, this.#clock.now(), this.#rules);
    if (await this.#store.addEndpoint(endpoint)) return viewOf(endpoint);
    throw new PosthornError<OutboxErrorCode>(
      "endpoint_invalid",
      `There is an endpoint ${endpoint.id} already. Update it, or choose another id; \`put\` makes it or changes it, for calls at each start.`,
    );
  }

  /**
   * Makes the endpoint of this id what it says, with defaults for the rest: for endpoints of the host's own configuration, which
   * each of its processes names at each start. A pause stays, and what is so already is not written.
   *
   * @example
   * await sender.endpoints.put({ id: "ep_erp", url: "https://erp.example.com/hooks", secrets: process.env.ERP_SECRET ?? "" });
   */
  async put(options: EndpointOptions & { readonly id: string }): Promise<EndpointView> {
    if (options.id === undefined) throw withoutId();
    const endpoint = endpointOf(options, this.#clock.now(), this.#rules);
    const [known] = await this.#store.readEndpoints([endpoint.id]);
    if (known === undefined && (await this.#store.addEndpoint(endpoint))) return viewOf(endpoint);
    // Between the two, another process of the host may have added it.
    const there = known ?? (await this.#store.readEndpoints([endpoint.id]))[0];
    if (there === undefined) throw unknown(endpoint.id);
    if (there.tenant !== endpoint.tenant) throw ofAnotherTenant(there);
    if (textOf(described(there)) === textOf(described(endpoint))) return viewOf(there);
    return this.#change(endpoint.id, described(endpoint));
  }

  /** Changes an endpoint; the next attempt of everything that waits for it uses the new values. */
  update(id: string, update: EndpointUpdate): Promise<EndpointView> {
    return this.#change(id, changeOf(update, this.#rules));
  }

  /** Lets everything wait, in order, until `resume`. What is under way is finished. */
  pause(id: string): Promise<EndpointView> {
    return this.#change(id, { state: "paused", because: undefined });
  }

  /** Ends a pause, or enables an endpoint that was disabled. */
  resume(id: string): Promise<EndpointView> {
    return this.#change(id, { state: "active", because: undefined });
  }

  /** Removes an endpoint; what waits for it is cancelled. */
  async remove(id: string): Promise<void> {
    if (!(await this.#store.removeEndpoint(id))) throw unknown(id);
  }

  async get(id: string): Promise<EndpointView | undefined> {
    const [endpoint] = await this.#store.readEndpoints([id]);
    return endpoint && viewOf(endpoint);
  }

  /** Its secrets in clear, to hand them to the endpoint's owner; undefined where there is no such endpoint. */
  async secretsOf(id: string): Promise<readonly string[] | undefined> {
    const [endpoint] = await this.#store.readEndpoints([id]);
    return endpoint?.secrets;
  }

  /** In the order of their ids, from after `after` on. */
  async list(
    page: { readonly tenant?: string; readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly EndpointView[]> {
    return (await this.#store.listEndpoints({ limit: 100, ...page })).map(viewOf);
  }

  async #change(id: string, change: EndpointChange): Promise<EndpointView> {
    const changed = await this.#store.changeEndpoint(id, change);
    if (changed === undefined) throw unknown(id);
    return viewOf(changed);
  }
}

function viewOf({ secrets, ...rest }: Endpoint): EndpointView {
  return { ...rest, secretCount: secrets.length };
}

/** What a host says of an endpoint; the rest is what became of it. */
function described({
  url,
  secrets,
  sources,
  types,
  order,
  retry,
  dead,
  maxInFlight,
}: Endpoint): EndpointChange {
  return { url, secrets, sources, types, order, retry, dead, maxInFlight };
}

/** The same for a retry policy whose fields a database gives back in another order. */
function textOf({ retry, ...change }: EndpointChange): string {
  const fields = Object.entries(retry ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([change, fields]);
}

function withoutId(): PosthornError<OutboxErrorCode> {
  return new PosthornError(
    "endpoint_invalid",
    "`put` has no `id`, by which the next start would find the endpoint again; expected one, as `ep_erp`.",
  );
}

function ofAnotherTenant({ id, tenant }: Endpoint): PosthornError<OutboxErrorCode> {
  const found = `The endpoint ${id} is of the tenant ${JSON.stringify(tenant)}, which cannot be changed.`;
  return new PosthornError("endpoint_invalid", `${found} Choose another id.`);
}

function unknown(id: string): PosthornError<OutboxErrorCode> {
  return new PosthornError("endpoint_unknown", `There is no endpoint ${JSON.stringify(id).slice(0, 80)}.`);
}
