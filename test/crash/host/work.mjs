/**
 * @typedef {object} HostOptions
 * @property {"sqlite" | "postgres"} store
 * @property {string} database A path, or a URL.
 * @property {"pg" | "postgres"} [driver] Of Postgres. Default: pg.
 * @property {string} [plant] A bug to be caught.
 * @property {number} [handlerDeadlineMs]
 * @property {"host" | "publisher" | "dispatcher" | "whole" | "landing" | "keeper" | "worker" | "operator" | "remover"} [program] Which of the programs in this folder. Default: host.
 * @property {number} [deadlineMs] Of a dispatcher.
 * @property {number} [leaseMs] Of a dispatcher.
 * @property {number} [failsOneIn] Of a worker: so many handlers, one of them throws.
 * @property {number} [slowJobEvery] Of a worker: the long handlers of every so many versions take longer than a beat of their leases.
 * @property {boolean} [waits] A worker that starts only when it is asked to.
 * @property {string} [poison] A dispatcher that is about to send a request with this text ends itself.
 */

/**
 * What a handler does: a row without a unique key and an increment beside it, so that work done twice, or torn,
 * can be seen.
 *
 * @typedef {object} Work
 * @property {string} tenant
 * @property {string} source
 * @property {string} id
 * @property {Uint8Array} body
 * @property {string} scope Whose counter: the test's.
 * @property {number} slot Of several counters, so that handlers do not all wait for one row.
 */

/**
 * @typedef {object} Host
 * @property {import("posthorn").InboxStore<any>} store
 * @property {(work: Work, how: { fails: boolean, result: unknown, tx: unknown }) => unknown} handle
 * @property {(work: Work) => Promise<{ duplicate: boolean }>} dedup Dedup and work in one transaction of the host's.
 * @property {(id: string) => Promise<{ duplicate: boolean }>} pooled Dedup alone.
 */

const SLOTS = 8;

/**
 * @param {{ tenant: string, source: string, id: string, body: Uint8Array }} event
 * @returns {Work}
 */
export function workOf({ tenant, source, id, body }) {
  const [scope = ""] = id.split("-");
  return { tenant, source, id, body, scope, slot: (id.codePointAt(id.length - 1) ?? 0) % SLOTS };
}
