import type { Judge } from "./orm-client.js";

type Call = (...args: unknown[]) => unknown;

/** Methods that send a statement, by name: how its text is found in their arguments. */
export type Senders = Readonly<Record<string, (...args: unknown[]) => string>>;

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
            judge(textIn(...args));
            resolve(own(...args));
          }),
    );
  }
}

/** What is judged of an object that others use as well. */
export interface Judged {
  readonly senders: Senders;
  /** The method that hands another such object to a callback, as for a savepoint: that one is judged as well. */
  readonly lender?: string;
}

/**
 * The same for an object that others use as well, as a connection of a pool: it stays as it is, and the copy is for this
 * transaction. A refusal throws: callers may hand in a callback, and not look at what comes back.
 */
export function judgedCopy<T extends object>(target: T, judge: Judge, judged: Judged): T {
  const { senders, lender } = judged;
  const lend = (given: unknown): unknown =>
    typeof given === "function" ? (lent: object) => (given as Call)(judgedCopy(lent, judge, judged)) : given;
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "constructor") return value;
      const textIn = typeof name === "string" ? senders[name] : undefined;
      return (...args: unknown[]): unknown => {
        if (textIn !== undefined) judge(textIn(...args));
        return Reflect.apply(value, target, name === lender ? args.map(lend) : args) as unknown;
      };
    },
  });
}

/** How a refused method tells its caller. */
type Refusing = (refusal: Error) => unknown;

/** As a failed statement does. Nobody may wait for it: the event fails anyway, and an unhandled rejection would end the process. */
const rejecting: Refusing = (refusal) => {
  const refused = Promise.reject(refusal);
  refused.catch(() => undefined);
  return refused;
};

/** For callers of an ORM's own that do not wait for the method, and then wait for an end that does not come. */
export const throwing: Refusing = (refusal) => {
  throw refusal;
};

/** Refuses methods that end the transaction as long as the handler has it. Gives what puts them back for the ORM. */
export function refuseMethods(
  target: object,
  judge: Judge,
  names: readonly string[],
  refusing: Refusing = rejecting,
): () => void {
  const undo = names.map((name) =>
    replaceMethod(target, name, () => () => refusing(judge.owned(`${name}()`))),
  );
  return () => undo.forEach((each) => each());
}

/** Replaces a method of one object by what is made of it. Gives what puts it back. */
export function replaceMethod(target: object, name: string, make: (own: Call) => Call): () => void {
  const holder = target as Record<string, unknown>;
  const own = Object.getOwnPropertyDescriptor(target, name);
  const before = holder[name] as Call;
  holder[name] = make((...args) => Reflect.apply(before, target, args));
  return () => {
    if (own) Object.defineProperty(target, name, own);
    else delete holder[name];
  };
}
