import { placeIn } from "../../../library/src/outbox/fan-out.js";
import type { LaneName, Place } from "../../../library/src/outbox/fan-out.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { EndpointTable } from "../../../library/src/stores/memory/outbox/endpoint-table.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of endpoints, and of who gets what in which lane. */
export const endpointFlaws = {
  order_changed_with_a_backlog: {
    wrap: (inner) => ({
      changeEndpoint: async (id, change) => {
        const { order, ...rest } = change;
        const changed = await inner.changeEndpoint(id, rest);
        return changed && { ...changed, order: order ?? changed.order };
      },
    }),
  },
  lane_recreated_in_the_same_generation: {
    wrap: (inner) => ({
      claim: async (request) => {
        const { claims, lapsed } = await inner.claim(request);
        const first = claims.map((each) =>
          Object.assign(each, each.lane && { lane: { key: each.lane.key, generation: 1n } }),
        );
        return { claims: first, lapsed };
      },
    }),
  },
  endpoint_added_again: {
    wrap: (inner) => ({
      addEndpoint: async (endpoint) => {
        await inner.removeEndpoint(endpoint.id);
        return inner.addEndpoint(endpoint);
      },
    }),
  },
  endpoint_loses_a_secret: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "put",
        (right) =>
          function (this: EndpointTable, endpoint) {
            right.call(this, { ...endpoint, secrets: endpoint.secrets.slice(0, 1) });
          },
      ),
  },
  endpoints_unsorted: {
    wrap: (inner) => ({
      listEndpoints: async (page) => (await inner.listEndpoints(page)).toReversed(),
    }),
  },
  endpoints_of_every_tenant: {
    wrap: (inner) => ({ listEndpoints: (page) => inner.listEndpoints({ ...page, tenant: undefined }) }),
  },
  removed_endpoint_read: {
    wrap: (inner) => ({ readEndpoints: async () => inner.listEndpoints({ limit: 100 }) }),
  },
  new_endpoint_gets_the_past: {
    wrap: (inner) => {
      const past: Parameters<typeof inner.append>[0][number][] = [];
      return {
        append: (events) => (past.push(...events), inner.append(events)),
        addEndpoint: async (endpoint) => {
          const added = await inner.addEndpoint(endpoint);
          await inner.append(past.map(withoutGivenId));
          return added;
        },
      };
    },
  },
  patterns_ignored: {
    mutate: (swaps) =>
      swapPlaces(swaps, (table, _places, event) =>
        table
          .sorted()
          .filter(({ tenant }) => tenant === event.tenant)
          .map((endpoint) => placeIn(endpoint, event)),
      ),
  },
  tenants_mixed: {
    mutate: (swaps) =>
      swapPlaces(swaps, (table, _places, event) =>
        table.sorted().flatMap(({ tenant }) => table.placesOfRight({ ...event, tenant })),
      ),
  },
  first_endpoint_only: { mutate: (swaps) => swapPlaces(swaps, (_table, places) => places.slice(0, 1)) },
  order_always_by_key: {
    mutate: (swaps) =>
      swapPlaces(swaps, (_table, places, { key }) =>
        places.map(({ consumerId }) => ({ consumerId, lane: key === undefined ? undefined : laneOf(key) })),
      ),
  },
  one_lane_without_a_key: {
    mutate: (swaps) =>
      swapPlaces(swaps, (_table, places) =>
        places.map(({ consumerId, lane = laneOf("") }) => ({ consumerId, lane })),
      ),
  },
  one_lane_for_all_keys: {
    mutate: (swaps) =>
      swapPlaces(swaps, (_table, places) =>
        places.map(({ consumerId, lane }) => ({ consumerId, lane: lane && laneOf("all") })),
      ),
  },
  lanes_across_endpoints: {
    mutate: (swaps) =>
      swapPlaces(swaps, (table, places) =>
        places.map(({ consumerId, lane }) => ({
          consumerId: lane === undefined ? consumerId : (table.sorted()[0]?.id ?? consumerId),
          lane,
        })),
      ),
  },
  sources_without_case: {
    mutate: (swaps) =>
      swapPlaces(swaps, (table, _places, event) =>
        table.placesOfRight({ ...event, source: event.source.toLowerCase() }),
      ),
  },
  change_keeps_the_version: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "change",
        (right) =>
          function (this: EndpointTable, id, change) {
            const version = this.get(id)?.version ?? 0;
            const changed = right.call(this, id, change);
            if (changed !== undefined) this.put({ ...changed, version });
            return this.get(id);
          },
      ),
  },
  change_to_nothing_ignored: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "change",
        (right) =>
          function (this: EndpointTable, id, change) {
            const named = Object.entries(change).filter(([, value]) => value !== undefined);
            return right.call(this, id, Object.fromEntries(named));
          },
      ),
  },
  paused_endpoint_claimed: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "isActive",
        () =>
          function (this: EndpointTable, id) {
            return ["active", "paused"].includes(this.get(id)?.state ?? "");
          },
      ),
  },
  disabled_endpoint_claimed: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "isActive",
        () =>
          function (this: EndpointTable, id) {
            return ["active", "disabled"].includes(this.get(id)?.state ?? "");
          },
      ),
  },
  pause_breaks_leases: {
    wrap: (inner) => ({
      changeEndpoint: async (id, change) => {
        if (change.state === "paused") await inner.release("worker_1", []);
        return inner.changeEndpoint(id, change);
      },
    }),
  },
  pause_drops_what_waits: {
    wrap: (inner) => ({
      changeEndpoint: async (id, change) => {
        const [before] = await inner.readEndpoints([id]);
        if (change.state === undefined || change.state === "active" || before === undefined) {
          return inner.changeEndpoint(id, change);
        }
        await inner.removeEndpoint(id);
        await inner.addEndpoint(before);
        return inner.changeEndpoint(id, change);
      },
    }),
  },
  removed_twice: {
    wrap: (inner) => ({ removeEndpoint: async (id) => (await inner.removeEndpoint(id), true) }),
  },
  removal_leaves_what_waits: {
    mutate: (swaps) => swaps.swap(LaneTable.prototype, "remove", () => () => []),
  },
  removal_leaves_lanes_running: {
    mutate: (swaps) => {
      swaps.swap(LaneTable.prototype, "remove", () => () => []);
      swaps.swap(
        EndpointTable.prototype,
        "isActive",
        () =>
          function (this: EndpointTable, id) {
            return (this.get(id)?.state ?? "active") === "active";
          },
      );
    },
  },
  disabling_ignored: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "change",
        (right) =>
          function (this: EndpointTable, id, change) {
            const settled = change.state === "disabled" && change.because !== undefined;
            return settled ? this.get(id) : right.call(this, id, change);
          },
      ),
  },
  disabling_without_reason: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "change",
        (right) =>
          function (this: EndpointTable, id, change) {
            return right.call(this, id, { ...change, because: undefined });
          },
      ),
  },
  empty_lane_starts_again: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "append",
        (right) =>
          function (this: LaneTable, lane, delivery, readyAt) {
            const { rowId } = delivery.event;
            if (lane.head === lane.end && lane.kind === "lane") {
              Object.assign(lane, { head: rowId, end: rowId, last: undefined });
            }
            right.call(this, lane, delivery, readyAt);
          },
      ),
  },
  stopped_lanes_not_blocked: {
    mutate: (swaps) => swaps.swap(EndpointTable.prototype, "stoppedAt", () => () => undefined),
  },
} satisfies Readonly<Record<string, Flaw>>;

function withoutGivenId<T extends object>(event: T): T {
  return { ...event, idGiven: false };
}

type RightTable = EndpointTable & { placesOfRight: EndpointTable["placesOf"] };

function swapPlaces(
  swaps: Swaps,
  places: (
    table: RightTable,
    right: readonly Place[],
    event: Parameters<EndpointTable["placesOf"]>[0],
  ) => readonly Place[],
): void {
  swaps.swap(
    EndpointTable.prototype,
    "placesOf",
    (right) =>
      function (this: EndpointTable, event) {
        const table = Object.assign(this, { placesOfRight: right });
        return places(table, right.call(this, event), event);
      },
  );
}

function laneOf(key: string): LaneName {
  return { tenant: "", source: "", key };
}
