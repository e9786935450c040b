import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { defaultSettings } from "../server/src/config/load.js";
import { createHttpServer } from "../server/src/http/server.js";
import type { ServerParts } from "../server/src/parts.js";

// spec/openapi.yaml is printed from the routes; server/src/http/open-api.test.ts keeps the two equal.

/** What the routes say of themselves. They are registered and never called: nothing behind them is needed. */
export async function openApiText(): Promise<string> {
  const parts = { settings: defaultSettings(), sender: {}, registry: {}, clock: {} };
  const app = createHttpServer(parts as unknown as ServerParts, { roles: ["api"] });
  await app.ready();
  const text = stringify(app.swagger(), { lineWidth: 110, aliasDuplicateObjects: false });
  await app.close();
  return `# Printed from the routes by scripts/print-openapi.ts.\n${text}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../spec/openapi.yaml", import.meta.url), await openApiText());
}
