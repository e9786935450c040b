import type { HandlerConsumer } from "../../../library/src/lanes/handler-consumer.js";
import { runsAlone } from "../../../library/src/lanes/lane.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { EndpointTable } from "../../../library/src/stores/memory/outbox/endpoint-table.js";
import { Publications } from "../../../library/src/stores/memory/outbox/publications.js";
import type { Place } from "../../../library/src/outbox/fan-out.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of handlers as consumers. */
export const handlerFlaws = {
  stored_event_to_endpoints: {
    mutate: (swaps) => {
      swaps.swap(
        EndpointTable.prototype,
        "placesOf",
        (right) =>
          function (this: EndpointTable, event) {
            const others = right.call(this, { ...event, isStored: false });
            return event.isStored ? [...right.call(this, event), ...others] : others;
          },
      );
    },
  },
  handler_of_one_tenant: {
    mutate: (swaps) => {
      swaps.swap(
        EndpointTable.prototype,
        "placesOf",
        (right) =>
          function (this: EndpointTable, event) {
            return event.isStored && event.tenant !== "default" ? [] : right.call(this, event);
          },
      );
    },
  },
  handler_of_its_types_alone: {
    mutate: (swaps) => {
      swaps.swap(
        EndpointTable.prototype,
        "placesOf",
        (right) =>
          function (this: EndpointTable, event) {
            const isHandled = this.handlers().some(({ versions: [newest] }) =>
              newest?.types.some((type) => type === "*" || type === event.type),
            );
            return event.isStored && !isHandled ? [] : right.call(this, event);
          },
      );
    },
  },
  handler_lanes_by_key_alone: {
    mutate: (swaps) =>
      eachHandlerPlace(swaps, ({ consumerId, lane }) => ({
        consumerId,
        lane: lane && { tenant: "", source: "", key: lane.key },
      })),
  },
  first_handler_only: {
    mutate: (swaps) => {
      swaps.swap(
        EndpointTable.prototype,
        "placesOf",
        (right) =>
          function (this: EndpointTable, event) {
            const places = right.call(this, event);
            return event.isStored ? places.slice(0, 1) : places;
          },
      );
    },
  },
  dispatcher_claims_handlers: {
    wrap: (inner) => ({
      claim: async (request) => {
        const answer = await inner.claim(request);
        if (request.of.kind === "handler" || answer.claims.length > 0) return answer;
        const ids = (await inner.readHandlers()).map(({ id }) => id);
        return inner.claim({ ...request, of: { kind: "handler", ids } });
      },
    }),
  },
  lapsed_lanes_behind_those_of_others: {
    mutate: (swaps) => {
      swaps.swap(
        LaneTable.prototype,
        "waiting",
        (right) =>
          function (this: LaneTable) {
            const all = right.call(this);
            const alone = all.filter(runsAlone).toSorted((a, b) => (a.readyAt ?? 0) - (b.readyAt ?? 0));
            const hidden = new Set(alone.slice(20));
            return all.filter((lane) => !hidden.has(lane));
          },
      );
    },
  },
  worker_claims_every_handler: {
    wrap: (inner) => ({
      claim: async (request) => {
        if (request.of.kind === "endpoint") return inner.claim(request);
        const ids = (await inner.readHandlers()).map(({ id }) => id);
        return inner.claim({ ...request, of: { kind: "handler", ids } });
      },
    }),
  },
  until_due_of_everybody: {
    wrap: (inner) => ({
      untilDue: async () => {
        const ids = (await inner.readHandlers()).map(({ id }) => id);
        const both = [
          await inner.untilDue({ kind: "endpoint" }),
          await inner.untilDue({ kind: "handler", ids }),
        ];
        const known = both.filter((ms) => ms !== undefined);
        return known.length === 0 ? undefined : Math.min(...known);
      },
    }),
  },
  stored_before_its_handler_lost: {
    mutate: (swaps) => swaps.swap(Publications.prototype, "placeUnclaimed", () => () => undefined),
  },
  unnamed_sequenced_again: {
    wrap: (inner) => {
      let again = 0;
      return {
        register: async (consumers) => {
          await inner.register(consumers);
          again = (await inner.census()).setAside;
        },
        sequence: async () => {
          const report = await inner.sequence();
          const events = report.events + again;
          again = 0;
          return { ...report, events };
        },
      };
    },
  },
  registration_always_written: {
    wrap: (inner) => {
      let written = 0;
      return {
        register: (consumers) => {
          written++;
          return inner.register(consumers);
        },
        readHandlers: async (ids) =>
          (await inner.readHandlers(ids)).map((handler) =>
            Object.assign(handler, { version: handler.version + written }),
          ),
      };
    },
  },
  last_registration_wins: {
    wrap: (inner) => {
      const last = new Map<string, HandlerConsumer>();
      return {
        register: (consumers) => {
          for (const consumer of consumers) last.set(consumer.id, consumer);
          return inner.register(consumers);
        },
        readHandlers: async (ids) =>
          (await inner.readHandlers(ids)).map((handler) =>
            Object.assign(handler, { sources: last.get(handler.id)?.sources }),
          ),
      };
    },
  },
  handler_limited_by_what_is_held: {
    wrap: (inner) => ({
      claim: (request) => {
        const isFull = [...(request.inFlight?.values() ?? [])].some((count) => count >= 64);
        return inner.claim(request.of.kind === "handler" && isFull ? { ...request, limit: 0 } : request);
      },
    }),
  },
  receipt_forgotten: {
    wrap: (inner) => ({
      claim: async (request) => {
        const answer = await inner.claim(request);
        for (const { run } of answer.claims) {
          for (const { event } of run) Object.assign(event, { receipt: undefined });
        }
        return answer;
      },
    }),
  },
  handlers_cannot_be_redriven: {
    wrap: (inner) => ({
      redrive: async (deliveryId) => {
        const handlers = await inner.readHandlers();
        return handlers.length > 0 ? "unknown" : inner.redrive(deliveryId);
      },
    }),
  },
} satisfies Readonly<Record<string, Flaw>>;

function eachHandlerPlace(swaps: Swaps, alter: (place: Place) => Place): void {
  swaps.swap(
    EndpointTable.prototype,
    "placesOf",
    (right) =>
      function (this: EndpointTable, event) {
        const places = right.call(this, event);
        return event.isStored ? places.map(alter) : places;
      },
  );
}
