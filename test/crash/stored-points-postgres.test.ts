import { freshDatabase } from "../services.js";
import { openPostgresStoredDatabase } from "./stored-database.js";
import { killAtEveryStoredPoint } from "./stored-every-point.js";

killAtEveryStoredPoint("postgres", async () => openPostgresStoredDatabase(await freshDatabase()));
