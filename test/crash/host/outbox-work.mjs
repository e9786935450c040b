/**
 * @typedef {object} Order What a publisher is asked to publish.
 * @property {"beside" | "alone" | "rolled_back"} how In a transaction with a business row, without one, or in one that is rolled back.
 * @property {string} ref What names the event to everybody; its body begins with it.
 * @property {string} type
 * @property {string} body In base64.
 * @property {string} [key]
 * @property {string} [id]
 * @property {number} [deliverInMs]
 * @property {number} [expiresInMs]
 */

/** @import { Publication } from "posthorn" */
/** @import { Store } from "posthorn/operator" */

/**
 * A host that publishes, over one kind of database.
 *
 * @typedef {object} PublishingHost
 * @property {import("posthorn").InboxStore<any>} store
 * @property {Store<any>} outbox
 * @property {(publish: (tx: any) => any, work: { ref: string, rollBack: boolean }) => Promise<{ duplicate: boolean }>} beside
 *   Writes a business row and publishes in one transaction of the host's.
 * @property {(relay: { ref: string, publication: Publication, publisher: import("posthorn").Publisher<any> }, tx: any) => unknown} relay
 *   What a handler returns that writes a business row and publishes.
 * @property {(most: number) => void} [limitPages] Lets the database file grow to so many pages, as a full disk does.
 */

export const ROLLED_BACK = "rolled back, as asked";

/** @param {Order} order @returns {Publication} */
export function publicationOf({ type, body, key, id, deliverInMs, expiresInMs }) {
  return {
    type,
    body: Buffer.from(body, "base64"),
    contentType: "application/octet-stream",
    ...(key !== undefined && { key }),
    ...(id !== undefined && { id }),
    ...(deliverInMs !== undefined && { deliverAt: new Date(Date.now() + deliverInMs) }),
    ...(expiresInMs !== undefined && { expiresAt: new Date(Date.now() + expiresInMs) }),
  };
}
