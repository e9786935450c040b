import { freshDatabase } from "../../services.js";
import { openPostgresStoredDatabase } from "./database.js";
import { killAtEveryStoredPoint } from "./every-point.js";

killAtEveryStoredPoint("postgres", async () => openPostgresStoredDatabase(await freshDatabase()));
