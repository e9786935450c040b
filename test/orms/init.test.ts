import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, it } from "vitest";
import { expectToCompile, initAndTest, openWorkshop } from "../packed/generated-project.js";
import type { Workshop } from "../packed/generated-project.js";
import { freshDatabase } from "../services.js";
import { generatePrisma } from "./generate-prisma.js";

// `posthorn init` from the packed tarballs, on the ORMs and drivers that test/hosts has not, each on Fastify.

const lane = fileURLToPath(new URL("./", import.meta.url));
const DATABASE_URL = await freshDatabase();
let workshop: Workshop;

beforeAll(async () => {
  workshop = await openWorkshop(lane);
}, 300_000);
afterAll(() => workshop.close(), 60_000);

const cases: readonly (readonly [name: string, dependencies: Readonly<Record<string, string>>])[] = [
  ["Kysely", { kysely: "^0.28.18", pg: "^8.23.1" }],
  ["Knex", { knex: "^3.3.0", pg: "^8.23.1" }],
  ["Sequelize", { sequelize: "^6.37.8", pg: "^8.23.1" }],
  ["Prisma", { "@prisma/client": "7.10.0" }],
  ["postgres", { postgres: "^3.4.9" }],
];

const SCHEMA = `generator client {
  provider = "prisma-client"
  output   = "../src/generated/prisma"
}

datasource db {
  provider = "postgresql"
}

model Invoice {
  id String @id
}
`;

/** What a project on Prisma has before Posthorn comes: its schema, and the client made of it. */
async function writeClient(project: string): Promise<void> {
  const schema = join(project, "prisma/schema.prisma");
  mkdirSync(join(project, "prisma"));
  writeFileSync(schema, SCHEMA);
  await generatePrisma(join(lane, "node_modules"), schema);
}

describe("posthorn init, from the packed tarballs,", () => {
  it.for(cases)(
    "in a project with %s: its test passes, and its code compiles",
    { timeout: 180_000 },
    async ([name, dependencies]) => {
      const project = workshop.open(name, {
        type: "module",
        dependencies: { fastify: "^5.12.8", ...dependencies },
        devDependencies: { typescript: "^7.0.2", "@types/node": "*" },
      });
      if (name === "Prisma") await writeClient(project);
      const run = { cwd: project, env: { DATABASE_URL } };
      await initAndTest(workshop, run);
      await expectToCompile(run);
    },
  );
});
