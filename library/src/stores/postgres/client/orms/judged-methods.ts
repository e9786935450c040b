import type { Judge } from "./orm-client.js";

type Call = (...args: unknown[]) => unknown;

/** Methods that send a statement, by name: how its text is found in their first argument. */
export type Senders = Readonly<Record<string, (first: unknown) => string>>;

/**
 * Judges what the methods of an object send, where the object lives as long as its transaction. A refusal rejects, as a failed
 * statement does.
 */
export function judgeMethods(target: object, judge: Judge, senders: Senders): void {
  for (const [name, textIn] of Object.entries(senders)) {
    replaceMethod(
      target,
      name,
      (own) =>
        (...args) =>
          new Promise((resolve) => {
            judge(textIn(args[0]));
            resolve(own(...args));
          }),
    );
  }
}

/**
 * The same for an object that others use as well, as a connection of a pool: it stays as it is, and the copy is for this
 * transaction. A refusal throws: callers may hand in a callback, and not look at what comes back.
 */
export function judgedCopy<T extends object>(target: T, judge: Judge, senders: Senders): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "constructor") return value;
      const textIn = typeof name === "string" ? senders[name] : undefined;
      return (...args: unknown[]): unknown => {
        if (textIn !== undefined) judge(textIn(args[0]));
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

/** Refuses methods that end the transaction as long as the handler has it. Gives what puts them back for the ORM. */
export function refuseMethods(target: object, judge: Judge, names: readonly string[]): () => void {
  const undo = names.map((name) =>
    replaceMethod(target, name, () => () => Promise.reject(judge.owned(`${name}()`))),
  );
  return () => undo.forEach((each) => each());
}

function replaceMethod(target: object, name: string, make: (own: Call) => Call): () => void {
  const holder = target as Record<string, unknown>;
  const own = Object.getOwnPropertyDescriptor(target, name);
  const before = holder[name] as Call;
  holder[name] = make((...args) => Reflect.apply(before, target, args));
  return () => {
    if (own) Object.defineProperty(target, name, own);
    else delete holder[name];
  };
}
