import { createSqliteStoredDatabase } from "./database.js";
import { killAtEveryStoredPoint } from "./every-point.js";

killAtEveryStoredPoint("sqlite", createSqliteStoredDatabase);
