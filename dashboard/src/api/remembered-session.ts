import type { Session } from "posthorn/client";
import { basePath } from "../place/base-path.ts";

const KEY = `posthorn-session${basePath}`;

/**
 * Who signed in here last, while that session lasts: a name and a scope, no secret. The cookie is what the server believes;
 * where it is gone, the first answer is 401 and this is forgotten.
 */
export function rememberedSession(): Session | undefined {
  // A link that signs in is worth more than what was known before it was opened.
  if (location.hash !== "" && location.pathname === `${basePath}/sign-in`) return undefined;
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null") as Session | null;
    if (kept?.signedIn !== true || Date.parse(kept.expiresAt ?? "") <= Date.now()) return undefined;
    return kept;
  } catch {
    // Storage may be switched off, or hold something else.
    return undefined;
  }
}

export function rememberSession(session: Session | undefined): void {
  try {
    if (session?.signedIn === true) localStorage.setItem(KEY, JSON.stringify(session));
    else localStorage.removeItem(KEY);
  } catch {
    // It is asked for again after the next load.
  }
}
