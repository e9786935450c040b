import { MetadataScanner, Reflector } from "@nestjs/core";
import type { InboxErrorCode } from "../inbox/inbox-errors.js";
import { PosthornError } from "../posthorn-error.js";
import type { FrameworkErrorCode } from "./framework-errors.js";

/** The metadata of `@OnWebhook`. */
export const HANDLES = "posthorn:on_webhook";

/** What of Nest's wrapper around a provider is used here. */
export interface Provider {
  readonly instance: unknown;
  readonly metatype: unknown;
  readonly name: unknown;
  isDependencyTreeStatic(): boolean;
}

type Handler = (...args: unknown[]) => unknown;

/** The decorated methods of all providers, by their keys. A mistake that would skip events for ever fails the start. */
export function findHandlers(
  providers: readonly Provider[],
  sources: readonly string[],
): Readonly<Record<string, Handler>> {
  const scanner = new MetadataScanner();
  const reflector = new Reflector();
  const handlers: Record<string, Handler> = {};
  for (const provider of providers) {
    const prototype = prototypeOf(provider);
    if (prototype === undefined) continue;
    for (const name of scanner.getAllMethodNames(prototype)) {
      const method: unknown = Reflect.get(prototype, name);
      if (typeof method !== "function") continue;
      const keys: unknown = reflector.get(HANDLES, method);
      for (const key of Array.isArray(keys) ? (keys as readonly string[]) : [])
        handlers[checked(key, handlers, sources)] = bound(provider, name);
    }
  }
  return handlers;
}

function prototypeOf({ instance, metatype }: Provider): object | undefined {
  if (typeof instance === "object" && instance !== null) return Object.getPrototypeOf(instance) as object;
  // Of a provider that lives for one request there is no instance yet; its methods are found all the same, and refused.
  return typeof metatype === "function" ? (metatype.prototype as object | undefined) : undefined;
}

function bound(provider: Provider, method: string): Handler {
  const { instance } = provider;
  if (!provider.isDependencyTreeStatic() || typeof instance !== "object" || instance === null) {
    throw new PosthornError<FrameworkErrorCode>(
      "handler_not_static",
      `${String(provider.name)}.${method} has @OnWebhook, but its provider, or one that it depends on, is request-scoped ` +
        "or transient. Give the handler a provider of the default scope.",
    );
  }
  return (...args) => (Reflect.get(instance, method) as Handler).apply(instance, args);
}

function checked(key: string, known: object, sources: readonly string[]): string {
  if (Object.hasOwn(known, key))
    throw invalid(`Two methods have @OnWebhook("${key}"): each key may have one handler.`);
  const colon = key.indexOf(":");
  if (colon === -1 || sources.includes(key.slice(0, colon))) return key;
  // Taken as a type, the key of a misspelt source would match no event, and its events would be skipped.
  throw invalid(
    `@OnWebhook("${key}") names the source "${key.slice(0, colon)}"; there are ${sources.join(", ")}. ` +
      "For a type that has a colon itself, put its source before it.",
  );
}

function invalid(message: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", message);
}
