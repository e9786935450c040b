import type { Platform, Project } from "./project.js";
import { needsPublicUrl } from "./receiver-files.js";
import type { Answers } from "./receiver-files.js";

/** The test: a signed request, twice, through the real framework into the real database. */
export function testFile(project: Project, { provider, type }: Answers): string {
  const { framework, platform, database, runner, reference: end } = project;
  const mount = framework === "nest" ? nestMount(platform) : MOUNTS[platform];
  const { imports, open } = mount(end);
  const sqlite = database === "sqlite";
  const wish = type === "*" ? "" : `, type: "${type}"`;
  const names = [
    "closeDatabase",
    "countReceived",
    ...(sqlite ? [] : ["dropSchema"]),
    "migrateDatabase",
    "openDatabase",
  ];
  const schema = sqlite ? "" : ", schema";
  const named = needsPublicUrl(provider);
  const options = `{ secrets${named ? ", publicUrl" : ""}${schema} }`;
  // Signed for the public URL, and sent to where the test listens.
  const signedFor = named ? `url: \`\${publicUrl}/webhooks/${provider}\`` : "url";
  return `import assert from "node:assert/strict";
import { test } from "${runner === "vitest" ? "vitest" : "node:test"}";
${imports}
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import { ${names.join(", ")} } from "./database${end}";

test("an event that is delivered twice is applied once", async () => {
  ${sqlite ? `const db = await openDatabase(":memory:");` : `const schema = \`test_webhooks_\${process.pid}\`;\n  const db = await openDatabase(schema);`}
  await migrateDatabase(db${schema});
  const secrets = TEST_SECRETS.${provider}.verifying;
${named ? `  const publicUrl = "https://example.com";\n` : ""}${indented(open(options))}
  try {
    const url = \`\${address}/webhooks/${provider}\`;
    // Signed with a public test secret, as ${provider} would sign it.
    const { headers, body } = await signedRequest("${provider}", { ${signedFor}${wish} });
    const post = async () => (await send(url, { method: "POST", headers, body })).headers.get("posthorn-verdict");
    assert.deepEqual([await post(), await post()], ["applied", "duplicate"]);
    assert.equal(await countReceived(db), 1);
  } finally {
    await stop();
${sqlite ? "" : "    await dropSchema(db, schema);\n"}    await closeDatabase(db);
  }
});
`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

interface Mount {
  readonly imports: string;
  /** Declares `address`, `send`, which is `fetch` or the framework's own, and `stop`. */
  readonly open: (options: string) => string;
}

const MOUNTS: Readonly<Record<Platform, (end: string) => Mount>> = {
  express: (end) => ({
    imports: `import { once } from "node:events";
import express from "express";
import { webhooks } from "posthorn/express";
import { createWebhooks } from "./receiver${end}";`,
    open: (options) => `const receiver = createWebhooks(db, ${options});
const app = express();
app.use("/webhooks", webhooks(receiver)); // before express.json()
app.use(express.json());
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const address = \`http://127.0.0.1:\${Object(server.address()).port}\`;
const send = fetch;
const stop = async () => {
  await receiver.stop();
  server.close();
  server.closeAllConnections();
};`,
  }),
  fastify: (end) => ({
    imports: `import fastify from "fastify";
import { webhooks } from "posthorn/fastify";
import { createWebhooks } from "./receiver${end}";`,
    open: (options) => `const receiver = createWebhooks(db, ${options});
const app = fastify({ forceCloseConnections: true });
await app.register(webhooks(receiver), { prefix: "/webhooks" });
const address = await app.listen({ port: 0, host: "127.0.0.1" });
const send = fetch;
const stop = async () => {
  await receiver.stop();
  await app.close();
};`,
  }),
  hono: (end) => ({
    imports: `import { Hono } from "hono";
import { webhooks } from "posthorn/hono";
import { createWebhooks } from "./receiver${end}";`,
    open: (options) => `const receiver = createWebhooks(db, ${options});
const app = new Hono();
app.post("/webhooks/:source", webhooks(receiver));
const address = "http://localhost";
const send = app.request;
const stop = () => receiver.stop();`,
  }),
};

function nestMount(platform: Platform): (end: string) => Mount {
  const fastify = platform === "fastify";
  // Nest hands the option on to Express alone; Fastify has it from its adapter.
  const close = "forceCloseConnections: true";
  const adapter = fastify ? `new FastifyAdapter({ ${close} }), ` : "";
  const options = `{ logger: false${fastify ? "" : `, ${close}`} }`;
  return (end) => ({
    imports: `import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
${fastify ? 'import { FastifyAdapter } from "@nestjs/platform-fastify";\n' : ""}import { AppWebhooksModule } from "./webhooks.module${end}";`,
    open: (given) => `const module = AppWebhooksModule.forRoot(db, ${given});
const app = await NestFactory.create(module, ${adapter}${options});
await app.listen(0, "127.0.0.1");
const address = await app.getUrl();
const send = fetch;
const stop = () => app.close();`,
  });
}
