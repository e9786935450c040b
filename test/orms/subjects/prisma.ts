import { PrismaPg } from "@prisma/adapter-pg";
import { fromPrisma } from "posthorn/orm";
import { PrismaClient } from "../snippets/generated/prisma/client.js";
import { driverOf, opened } from "./subject.js";

export const prisma = driverOf({ name: "prisma", commit: "COMMIT" }, ({ url, max }) => {
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max }) });
  return opened(fromPrisma(client), {
    inside: (tx, text) => tx.$executeRawUnsafe(text),
    end: () => client.$disconnect(),
  });
});
