import { killAtEveryPoint } from "./every-point.js";
import { createSqliteDatabase } from "./sqlite-database.js";

killAtEveryPoint("sqlite", createSqliteDatabase, { elsewhere: new Map() });
