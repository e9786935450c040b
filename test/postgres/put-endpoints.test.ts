import { createSender, generateSecret } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";

const url = await freshDatabase();

it.each(drivers)(
  "an endpoint that is put at each start is written once, as $name gives it back",
  async (driver) => {
    const host = driver.open(url, { max: 4 });
    const { endpoints } = createSender({ store: postgresStore({ client: host.client }) });
    const said = {
      id: `ep_${driver.name}`,
      url: "https://example.com/",
      secrets: [generateSecret(), generateSecret()],
      types: ["order.*", "invoice.paid"],
      retry: { waitsMs: [5, 10] },
      dead: "park",
    } as const;
    const started = await Promise.all([1, 2, 3].map(() => endpoints.put(said)));
    expect(started.map(({ version }) => version)).toEqual([1, 1, 1]);
    const { retry: _, dead: __, ...rest } = said;
    for (const version of [2, 2])
      expect(await endpoints.put(rest)).toMatchObject({ version, dead: undefined });
  },
);
