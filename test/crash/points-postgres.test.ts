import { killAtEveryPoint } from "./every-point.js";
import { createPostgresDatabase } from "./postgres-database.js";

killAtEveryPoint("postgres", createPostgresDatabase, ["dedup.before_resolve", "dedup.after_resolve"]);
