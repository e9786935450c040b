import { createSqliteStoredDatabase } from "./stored-database.js";
import { killAtEveryStoredPoint } from "./stored-every-point.js";

killAtEveryStoredPoint("sqlite", createSqliteStoredDatabase);
