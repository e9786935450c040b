import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defaultFile } from "../server/src/config/print.js";

// docs/configuration.md is printed from the table of settings; scripts/print-configuration.test.ts keeps the two equal.

const BEFORE = `# Configuration

Every setting of the server can be given in three ways. A flag wins over a variable of the environment, that over the
file, and that over the default.

| way | example |
|---|---|
| flag | \`posthorn serve --data-dir /var/lib/posthorn\` |
| variable | \`POSTHORN_DATA_DIR=/var/lib/posthorn posthorn serve\` |
| file | \`data_dir: /var/lib/posthorn\` in \`posthorn.yaml\` |

All names follow from one: \`data_dir\` in the file is \`--data-dir\` as a flag and \`POSTHORN_DATA_DIR\` as a variable. A
switch that is on by default is turned off with \`--no-\`, as \`--no-migrate\`. Lists are written with commas, in the file
also as lists of YAML. Durations have a unit (\`250ms\`, \`15s\`, \`5m\`), sizes may have one (\`512KiB\`, \`1MiB\`). An empty
variable says nothing.

The file is \`posthorn.yaml\` of the working directory, where there is one, or what \`--config\` or \`POSTHORN_CONFIG\` names.

| command | does |
|---|---|
| \`posthorn config\` | prints the file below: every setting with its default and what it means |
| \`posthorn config --effective\` | prints what holds now, and from which flag, variable or line; secrets are not shown |
| \`posthorn config check FILE\` | says all that is wrong with a file |
| \`posthorn config new-key\` | prints a new master key |
| \`posthorn config new-token\` | prints a new token, for \`first_token\` |

## What is wrong is refused

A server does not start on a configuration that it does not understand. It tells all problems at once, each with the
line and, for a name that is not known, the nearest right one:

\`\`\`text
Error: The configuration has 2 problems.
posthorn.yaml:3: There is no setting "dataDir". Did you mean "data_dir"?
posthorn.yaml:7: "request_timeout" is 15; expected a duration such as 250ms, 15s or 5m, from 1s to 5m.
\`posthorn config\` prints every setting with its default and what it means.
\`\`\`

Keys that stand twice, aliases of YAML and values without a meaning are refused in the same way. Variables that begin
with \`POSTHORN_\` and mean nothing are only warned of, and only where they are nearly the name of a setting: clusters
set such variables for services of this name.

A file that holds a secret and that other users may read is warned of.

## The file, with all defaults

\`\`\`yaml
`;

/** The page that shows every setting. */
export function configurationPage(): string {
  return `${BEFORE}${defaultFile()}\`\`\`\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/configuration.md", import.meta.url), configurationPage());
}
