import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun } from "../packed/run-program.js";

const lane = fileURLToPath(new URL("./", import.meta.url));

/** Runs `prisma generate` for a schema, by the Prisma of a folder's packages. */
export async function generatePrisma(packages: string, schema: string): Promise<void> {
  const env = {
    // Without it, Prisma downloads an engine for migrations. `generate` does not start it: any program stands for it.
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    CHECKPOINT_DISABLE: "1",
  };
  const program = join(packages, "prisma/build/index.js");
  await mustRun(process.execPath, [program, "generate", "--schema", schema], { cwd: dirname(schema), env });
}

/** Before the tests of the lane: the client of snippets/prisma.ts. */
export async function setup(): Promise<void> {
  await generatePrisma(join(lane, "node_modules"), join(lane, "snippets/schema.prisma"));
}
