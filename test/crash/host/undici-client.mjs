// Stands for the package undici in the hosts: its parts that a dispatcher uses, without the rest of it.
export { default as buildConnector } from "undici/lib/core/connect.js";
export { default as Client } from "undici/lib/dispatcher/client.js";
