import { MetadataScanner, Reflector } from "@nestjs/core";
import type { InboxErrorCode } from "../inbox/inbox-errors.js";
import { PosthornError } from "../posthorn-error.js";
import type { FrameworkErrorCode } from "./framework-errors.js";

/** The metadata of `@OnWebhook`. */
export const HANDLES = "posthorn:on_webhook";

/** What of Nest's wrapper around a provider or a controller is used here. */
export interface Provider {
  readonly instance: unknown;
  readonly metatype: unknown;
  readonly name: unknown;
  readonly isTransient: boolean;
  /** The module that it belongs to. */
  readonly host?: { readonly name: string } | undefined;
  isDependencyTreeStatic(): boolean;
}

type Handler = (...args: unknown[]) => unknown;

/** A decorated method. */
interface Method {
  readonly provider: Provider;
  readonly name: string;
  readonly keys: readonly string[];
}

/**
 * The decorated methods of all providers and controllers, by their keys. A mistake that would skip events for ever fails the
 * start.
 */
export function findHandlers(
  providers: readonly Provider[],
  sources: readonly string[],
): Readonly<Record<string, Handler>> {
  const found = new Map<string, Method>();
  for (const method of oncePerInstance(providers).flatMap(decoratedMethods)) {
    for (const key of method.keys) {
      checkSource(key, sources);
      const other = found.get(key);
      if (other !== undefined) throw invalid(twoMethods(key, other, method));
      found.set(key, method);
    }
  }
  return Object.fromEntries([...found].map(([key, method]) => [key, bound(method)]));
}

/** An alias (`useExisting`) is a provider of its own with the instance of another: its methods would be found twice. */
function oncePerInstance(providers: readonly Provider[]): readonly Provider[] {
  const seen = new Set<unknown>();
  return providers.filter((provider) => {
    // Providers that live for one request may have none yet.
    const identity = provider.instance ?? provider;
    return !seen.has(identity) && seen.add(identity);
  });
}

function decoratedMethods(provider: Provider): readonly Method[] {
  const scanner = new MetadataScanner();
  const reflector = new Reflector();
  const prototype = prototypeOf(provider);
  if (prototype === undefined) return [];
  return scanner.getAllMethodNames(prototype).flatMap((name) => {
    const method: unknown = Reflect.get(prototype, name);
    const keys: unknown = typeof method === "function" ? reflector.get(HANDLES, method) : undefined;
    return Array.isArray(keys) ? [{ provider, name, keys: [...new Set(keys as readonly string[])] }] : [];
  });
}

function prototypeOf({ instance, metatype }: Provider): object | undefined {
  if (typeof instance === "object" && instance !== null) return Object.getPrototypeOf(instance) as object;
  // Of a provider that lives for one request there is no instance yet; its methods are found all the same, and refused.
  return typeof metatype === "function" ? (metatype.prototype as object | undefined) : undefined;
}

function bound({ provider, name }: Method): Handler {
  const { instance, isTransient } = provider;
  // Nest has an instance of a transient provider, too, whose constructor it never called.
  const isShared = !isTransient && provider.isDependencyTreeStatic();
  if (!isShared || typeof instance !== "object" || instance === null) {
    throw new PosthornError<FrameworkErrorCode>(
      "handler_not_static",
      `${placeOf({ provider, name })} has @OnWebhook, but its class is transient or request-scoped, or depends on ` +
        "one that is request-scoped. Put the handler into a class of the default scope.",
    );
  }
  return (...args) => (Reflect.get(instance, name) as Handler).apply(instance, args);
}

function checkSource(key: string, sources: readonly string[]): void {
  const colon = key.indexOf(":");
  if (colon === -1 || sources.includes(key.slice(0, colon))) return;
  // Taken as a type, the key of a misspelt source would match no event, and its events would be skipped.
  throw invalid(
    `@OnWebhook("${key}") names the source "${key.slice(0, colon)}"; there are ${sources.join(", ")}. ` +
      "For a type that has a colon itself, put its source before it.",
  );
}

function twoMethods(key: string, one: Method, other: Method): string {
  const found = `Two methods have @OnWebhook("${key}"): ${placeOf(one)} and ${placeOf(other)}.`;
  return isSameMethod(one, other)
    ? `${found} Nest makes an instance of the class for each time that it is provided: provide it once, export it from its ` +
        "module, and give other names to it by useExisting."
    : `${found} Each key may have one handler: let one method call the other.`;
}

function isSameMethod(one: Method, other: Method): boolean {
  return one.name === other.name && classOf(one.provider) === classOf(other.provider);
}

function placeOf({ provider, name }: Pick<Method, "provider" | "name">): string {
  return `${classOf(provider)}.${name} in ${provider.host?.name ?? "a module without a name"}`;
}

/** Not the name of the provider, which is its token: a symbol, say. */
function classOf(provider: Provider): string {
  return prototypeOf(provider)?.constructor.name ?? String(provider.name);
}

function invalid(message: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", message);
}
