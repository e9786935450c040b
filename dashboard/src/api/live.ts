import { effect, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { failureOf, session } from "./api.ts";
import type { Failure } from "./api.ts";

/** How often what is shown is asked for again. */
export const REFRESH_MS = 2000;

/** Set by a person; nothing is asked for while it is. */
export const paused = signal(false);
/** The time for ages on the page, once a second. */
export const now = signal(Date.now());
/** When an answer last came. */
export const answeredAt = signal(Date.now());

/** What is known of one question to the API. */
export interface Known<T> {
  readonly data: T | undefined;
  readonly failure: Failure | undefined;
}

class Question<T> {
  readonly known = signal<Known<T>>({ data: undefined, failure: undefined });
  readonly #load: () => Promise<T>;
  #running: Promise<void> | undefined;
  readers = 0;
  askedAt = 0;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** Asks once, however many want to know at the same time. */
  ask(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #run(): Promise<void> {
    this.askedAt = Date.now();
    try {
      const data = await this.#load();
      answeredAt.value = Date.now();
      this.known.value = { data, failure: undefined };
    } catch (error) {
      // Old figures stay: they are worth more than an empty page.
      this.known.value = { data: this.known.value.data, failure: failureOf(error) };
    } finally {
      this.askedAt = Date.now();
    }
  }
}

const questions = new Map<string, Question<unknown>>();
const MOST_KEPT = 100;

function questionOf<T>(key: string, load: () => Promise<T>): Question<T> {
  const kept = questions.get(key);
  if (kept !== undefined) return kept as Question<T>;
  if (questions.size >= MOST_KEPT) {
    for (const [old, { readers }] of questions) if (readers === 0) questions.delete(old);
  }
  const question = new Question(load);
  questions.set(key, question);
  return question;
}

export interface Live<T> extends Known<T> {
  refresh(): Promise<void>;
}

interface LiveOptions {
  /** For what never changes. */
  readonly once?: boolean;
  /** For what changes slowly, or costs the server more. */
  readonly everyMs?: number;
}

/**
 * What the API answers to a question, kept up to date while it is on the page. `key` tells questions apart; what was known
 * under it is shown at once, so that back is instant.
 */
export function useLive<T>(key: string, load: () => Promise<T>, options: LiveOptions = {}): Live<T> {
  const { once = false, everyMs = REFRESH_MS } = options;
  const question = questionOf(key, load);
  const [, draw] = useState(0);
  useEffect(() => {
    question.readers++;
    const stop = effect(() => {
      void question.known.value;
      draw((n) => n + 1);
    });
    if (!once || question.known.value.data === undefined) void question.ask();
    const timer = once ? undefined : setInterval(() => refreshIfDue(question, everyMs), REFRESH_MS / 4);
    return () => {
      question.readers--;
      clearInterval(timer);
      stop();
    };
  }, [question, once, everyMs]);
  return { ...question.known.value, refresh: () => question.ask() };
}

function refreshIfDue(question: Question<unknown>, everyMs: number): void {
  if (paused.value || document.hidden || session.value?.signedIn !== true) return;
  // What is not there may come, and is not worth asking for as often.
  const waitMs = question.known.value.failure?.missing === true ? 5 * REFRESH_MS : everyMs;
  if (Date.now() - question.askedAt >= waitMs) void question.ask();
}

/** Asks again for everything that is on the page: after a change, waiting would look like a failure. */
export async function refreshAll(): Promise<void> {
  const shown = [...questions.values()].filter(({ readers }) => readers > 0);
  await Promise.all(shown.map((question) => question.ask()));
}

/** Forgets all: another person may sign in. */
export function forgetAll(): void {
  questions.clear();
}

/** Starts the clock of the page. It stands while nobody looks, and what is shown is new when somebody looks again. */
export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    now.value = Date.now();
    if (!document.hidden && !paused.value) void refreshAll();
  });
}
