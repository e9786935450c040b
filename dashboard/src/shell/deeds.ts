import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { failureOf } from "../api/api.ts";
import { refreshAll } from "../api/live.ts";

/** What is told of something that was done, or failed. */
export interface Told {
  readonly id: number;
  readonly text: string;
  readonly failed: boolean;
}

export const told = signal<readonly Told[]>([]);

const SHOWN_MS = 6000;
const DRAWN_MS = 50;
let lastId = 0;

/** Tells at the foot of the page. A failure stays until it is taken away. */
export function tell(text: string, failed = false): void {
  const id = ++lastId;
  told.value = [...told.value.slice(-2), { id, text, failed }];
  if (!failed) setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  told.value = told.value.filter((each) => each.id !== id);
}

/** Does something by the API, tells what came of it, and brings the page up to date. True where it was done. */
export async function perform(work: () => Promise<string>): Promise<boolean> {
  try {
    tell(await work());
    return true;
  } catch (error) {
    const { title, detail } = failureOf(error);
    tell(`${title}: ${detail}`, true);
    return false;
  } finally {
    // Once the page has been drawn anew: what was just removed is not asked for again.
    setTimeout(() => void refreshAll(), DRAWN_MS);
  }
}

/** A question that a person has to answer before something is done. */
export interface Question {
  readonly title: string;
  readonly body: ComponentChildren;
  /** What the button says: the act and its object. */
  readonly act: string;
  readonly danger?: boolean;
}

interface Asked extends Question {
  readonly answer: (yes: boolean) => void;
}

export const asked = signal<Asked | undefined>(undefined);

/** Asks, and resolves with the answer. A second question takes the place of the first, which is answered with no. */
export function confirmed(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = undefined;
        resolve(yes);
      },
    };
  });
}

/** Puts a text on the clipboard. Without permission or TLS there is none. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(`Copied ${what}.`);
  } catch {
    tell("The browser does not let this page copy. Mark the text, and copy it by hand.", true);
  }
}
