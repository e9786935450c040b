import { computed, signal } from "@preact/signals";
import { createClient, isPosthornError, problemOf } from "posthorn/client";
import type { Session } from "posthorn/client";
import { basePath } from "../place/base-path.ts";
import { rememberedSession, rememberSession } from "./remembered-session.ts";

/** The admin API, called with the cookie of the session. There is no other way in: the CLI and programs use the same. */
export const api = createClient({ url: location.origin + basePath });

const NOBODY: Session = { signedIn: false, tokenId: null, name: null, scope: null, expiresAt: null };

/** Who is signed in; undefined until it is known. */
export const session = signal<Session | undefined>(rememberedSession());

/** Asks who is signed in, unless the browser remembers: then the first questions of the page need not wait for the answer. */
export async function loadSession(): Promise<void> {
  if (session.value !== undefined) return;
  session.value = await api.session.get();
  rememberSession(session.value);
}

export async function signIn(input: { token: string } | { code: string }): Promise<void> {
  session.value = await api.session.create(input);
  rememberSession(session.value);
}

export async function signOut(): Promise<void> {
  await api.session.end();
  endSession();
}

function endSession(): void {
  session.value = NOBODY;
  rememberSession(undefined);
}

/** Why nothing can be changed; undefined where it can. */
export const readOnly = computed(() =>
  session.value?.scope === "read"
    ? "Your token may only read. Sign in with one of the scope full."
    : undefined,
);

/** What went wrong, and what to do: the words of the server where it sent some. */
export interface Failure {
  readonly title: string;
  readonly detail: string;
  readonly requestId?: string | undefined;
  /** There is no such thing. */
  readonly missing: boolean;
}

/** Puts an error of the API into words. A session that has ended leads to the sign-in. */
export function failureOf(error: unknown): Failure {
  const problem = problemOf(error);
  if (problem !== undefined) {
    if (problem.status === 401) endSession();
    const { title, detail, requestId, status } = problem;
    return { title: titleOf(status, title), detail, requestId, missing: status === 404 };
  }
  if (isPosthornError(error) && error.code === "api_unreachable") {
    return {
      title: "The server does not answer",
      detail:
        "What you see may be old. This page asks again by itself; if it goes on, see whether the server runs.",
      missing: false,
    };
  }
  return {
    title: "Something failed",
    detail: error instanceof Error ? error.message : String(error),
    missing: false,
  };
}

function titleOf(status: number, title: string): string {
  if (status === 404) return "It is not there";
  if (status === 403) return "That is not allowed";
  if (status === 409) return "Nothing was changed";
  return title.replace(/\.$/, "");
}
