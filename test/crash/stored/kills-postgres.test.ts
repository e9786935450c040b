import { freshDatabase } from "../../services.js";
import { openPostgresStoredDatabase } from "./database.js";
import { tryStoredStream } from "./kills-cases.js";

tryStoredStream(async () => openPostgresStoredDatabase(await freshDatabase()));
