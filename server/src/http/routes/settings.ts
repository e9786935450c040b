import type { FastifyInstance } from "fastify";
import type { SettingInForce, SettingsInForce } from "posthorn/client";
import { settingsInForce } from "../../config/print.js";
import type { ApiParts } from "../api-parts.js";
import { MAYBE_TEXT, whole } from "../resources/text.js";
import { routeSchema } from "../route-schema.js";

/** /settings: what the node that answers runs with. */
export function registerSettings(api: FastifyInstance, { settings, origins, node }: ApiParts): void {
  api.get("/settings", { schema: GET }, (): SettingsInForce => ({
    node,
    items: settingsInForce(settings, origins),
  }));
}

const TEXT = { type: "string" } as const;

const GET = routeSchema({
  operationId: "getSettings",
  summary: "The settings in force on the node that answers, and where each is from. Secrets are not shown.",
  tag: "status",
  answers: {
    200: whole<SettingsInForce>({
      node: TEXT,
      items: {
        type: "array",
        items: whole<SettingInForce>({
          key: { ...TEXT, description: "As in the file." },
          section: TEXT,
          value: { ...MAYBE_TEXT, description: "As it is written in the file; null where there is none." },
          origin: { ...TEXT, description: "A flag, a variable, a line of the file, or `default`." },
          says: { ...TEXT, description: "What it is for." },
        }),
      },
    }),
  },
});
