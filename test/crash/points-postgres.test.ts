import { killAtEveryPoint } from "./every-point.js";
import { createPostgresDatabase } from "./postgres-database.js";

killAtEveryPoint("postgres", createPostgresDatabase, { elsewhere: new Map() });
