import { killAtRandom } from "./random-kills.js";
import { createSqliteDatabase } from "./sqlite-database.js";

killAtRandom("sqlite", createSqliteDatabase);
