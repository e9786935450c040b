// What a signed webhook costs at the least: a route of Fastify that verifies the raw bytes and answers, and keeps nothing.
import { fastify } from "fastify";
import { standardWebhooks, verifySync } from "posthorn";

const [secret = ""] = process.argv.slice(2);
const verifier = standardWebhooks({ secrets: [secret] });
const app = fastify({ keepAliveTimeout: 600_000 });
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
app.post("/in/:source", (request, reply) => {
  const body = /** @type {Buffer} */ (request.body);
  verifySync(verifier, { headers: request.headers, body });
  reply.code(204).send();
});
const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`ready at ${url}\n`);
