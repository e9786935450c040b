import { createPostgresDatabase } from "./postgres-database.js";
import { killAtRandom } from "./random-kills.js";

killAtRandom("postgres", createPostgresDatabase);
