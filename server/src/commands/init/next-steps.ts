import type { Plan } from "./plan.js";
import type { Framework, Project } from "./project.js";
import { needsPublicUrl, PUBLIC_URL, secretOf } from "./receiver-files.js";
import type { Answers } from "./receiver-files.js";

/** What a person does after the files are written. */
export function nextSteps(project: Project, { provider }: Answers, plan: Plan): readonly string[] {
  const { database, manager } = project;
  const sqlite = database === "sqlite";
  const url = sqlite ? "" : "DATABASE_URL=postgres://… ";
  const file = sqlite ? "DATABASE_FILE=app.db " : "";
  const schema = sqlite ? "in memory" : "in a schema that it makes and drops";
  return [
    ...(plan.added.length === 0 ? [] : [`${manager} install  # for ${plan.added.join(", ")}`]),
    `${url}${scriptLine(project, plan.testScript)}  # ${schema}`,
    `${url}${file}${scriptLine(project, "posthorn:migrate")}`,
    "",
    `Then set ${secretOf(provider)}${needsPublicUrl(provider) ? ` and ${PUBLIC_URL} (https://<your host>)` : ""}, and mount the receiver in a file beside the folder webhooks:`,
    ...mountLines(project, plan).map((line) => `  ${line}`),
    "",
    `The address for ${provider}: https://<your host>/webhooks/${provider}`,
  ];
}

/** How the project's manager runs a script; `bun test` would start Bun's own runner. */
function scriptLine({ manager }: Project, script: string): string {
  return script === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${script}`;
}

function mountLines(project: Project, { manifest }: Plan): readonly string[] {
  const { framework, reference } = project;
  const isModule = manifest.type === "module";
  const from = (name: string, module: string): string => {
    if (isModule || project.extension === "ts") return `import { ${name} } from "${module}";`;
    // TS1479: the compiler that has .mts files refuses an import of them in a file of CommonJS.
    const load = project.extension === "mts" ? "await import" : "require";
    return `const { ${name} } = ${load}("${module}");`;
  };
  const open = from("openDatabase", `./webhooks/database${reference}`);
  if (framework === "nest") {
    return [
      from("AppWebhooksModule", `./webhooks/webhooks.module${reference}`),
      open,
      "imports: [openDatabase().then((db) => AppWebhooksModule.forRoot(db))], // of your module",
      "void app.get(Webhooks).receiver.keepPurged({ everyMs: 60_000 }); // from posthorn/nest: removes old rows of the inbox",
    ];
  }
  return [
    from("createWebhooks", `./webhooks/receiver${reference}`),
    open,
    from("webhooks", `posthorn/${framework}`),
    `const receiver = createWebhooks(await openDatabase());${isModule ? "" : " // await: in an async function"}`,
    MOUNTS[framework],
    "void receiver.keepPurged({ everyMs: 60_000 }); // removes old rows of the inbox",
    "await receiver.stop(); // at the end, before the database is closed",
  ];
}

const MOUNTS: Readonly<Record<Exclude<Framework, "nest">, string>> = {
  express: 'app.use("/webhooks", webhooks(receiver)); // before express.json()',
  fastify: 'await app.register(webhooks(receiver), { prefix: "/webhooks" });',
  hono: 'app.post("/webhooks/:source", webhooks(receiver));',
};
