import { freshDatabase } from "../services.js";
import { openPostgresStoredDatabase } from "./stored-database.js";
import { tryStoredStream } from "./stored-kills-cases.js";

tryStoredStream(async () => openPostgresStoredDatabase(await freshDatabase()));
