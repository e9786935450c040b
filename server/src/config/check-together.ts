import type { ConfigFault } from "./config-fault.js";
import type { Role, Settings } from "./settings.js";

// Time to settle an attempt after its deadline; the dispatcher refuses a shorter lease.
const LEASE_MARGIN_MS = 5000;
const ROLES: readonly Role[] = ["ingest", "dispatch", "api"];

/** Finds values that are valid, and do not fit together. */
export function checkTogether(
  settings: Settings,
  origins: ReadonlyMap<keyof Settings, string>,
): ConfigFault[] {
  const problems: ConfigFault[] = [];
  const refuse = (name: keyof Settings, message: string): void => {
    problems.push({ where: origins.get(name) ?? name, message });
  };
  const { leaseMs, attemptTimeoutMs, masterKey, masterKeyFile } = settings;
  if (leaseMs <= attemptTimeoutMs + LEASE_MARGIN_MS) {
    refuse(
      origins.get("leaseMs") === "default" ? "attemptTimeoutMs" : "leaseMs",
      `"lease" is ${leaseMs}ms and "attempt_timeout" ${attemptTimeoutMs}ms; expected a lease of more than ` +
        `${attemptTimeoutMs + LEASE_MARGIN_MS}ms, so that no attempt outlives it and is made by two.`,
    );
  }
  if (masterKey !== undefined && masterKeyFile !== undefined) {
    refuse("masterKey", `"master_key" and "master_key_file" are both given; remove one.`);
  }
  if (settings.database !== undefined && settings.databaseFile !== undefined) {
    refuse("database", `"database" and "database_file" are both given; remove one.`);
  }
  return problems;
}

/** Finds settings that work, and are probably a mistake. */
export function doubts(settings: Settings, origins: ReadonlyMap<keyof Settings, string>): ConfigFault[] {
  const { database, databaseFile, roles } = settings;
  if (database !== undefined || databaseFile !== undefined || roles.length === ROLES.length) return [];
  const missing = ROLES.filter((role) => !roles.includes(role));
  return [
    {
      where: origins.get("roles") ?? "roles",
      message:
        `Without "database", events are kept in SQLite, which one process holds: ` +
        `while it runs, nobody does the part of ${missing.join(" and ")}.`,
    },
  ];
}
