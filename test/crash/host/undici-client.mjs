// Stands for the package undici in the hosts: its parts that a dispatcher uses, without the rest of it.
// @ts-expect-error It has no types for its parts.
export { default as buildConnector } from "undici/lib/core/connect.js";
// @ts-expect-error It has no types for its parts.
export { default as Client } from "undici/lib/dispatcher/client.js";
