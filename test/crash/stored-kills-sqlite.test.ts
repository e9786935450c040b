import { createSqliteStoredDatabase } from "./stored-database.js";
import { tryStoredStream } from "./stored-kills-cases.js";

tryStoredStream(createSqliteStoredDatabase);
