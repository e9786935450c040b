/**
 * `posthorn/nest`: webhooks as a module of NestJS, with handlers on providers. Needs `@nestjs/common` and `@nestjs/core`.
 *
 * @module
 */
export { OnWebhook, Webhooks, WebhooksModule } from "./frameworks/nest.js";
export type {
  WebhookDecorator,
  WebhooksAsyncOptions,
  WebhooksOptions,
  WebhooksPath,
} from "./frameworks/nest.js";
