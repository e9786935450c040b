import { createSqliteStoredDatabase } from "./database.js";
import { tryStoredStream } from "./kills-cases.js";

tryStoredStream(createSqliteStoredDatabase);
