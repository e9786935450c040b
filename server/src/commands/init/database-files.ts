import type { DatabasePart, Typed } from "./database-part.js";
import { POSTGRES_CLIENTS } from "./postgres-clients.js";
import { postgresPart } from "./postgres-file.js";
import type { Project } from "./project.js";
import { sqlitePart } from "./sqlite-file.js";

/** The file `database` and the handler's write, for the project's database. */
export function databasePart(project: Project): DatabasePart {
  const { database, typescript } = project;
  const typed: Typed = (text) => (typescript ? text : "");
  if (database === "sqlite") return sqlitePart(typed);
  return postgresPart(POSTGRES_CLIENTS[database](typed, project), typed);
}
