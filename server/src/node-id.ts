import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Unique per boot: two processes on one machine, or one that came back, are never taken for each other. */
export function newNodeId(): string {
  const host =
    hostname()
      .replaceAll(/[^\w.-]/g, "")
      .slice(0, 40) || "node";
  return `${host}-${randomBytes(4).toString("hex")}`;
}
