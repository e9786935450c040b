import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { failureOf, loadSession, session } from "./api/api.ts";
import type { Failure } from "./api/api.ts";
import { hrefOf, match, navigate, place } from "./place/location.ts";
import { OperationDock } from "./pages/dead/dock.tsx";
import { Confirmation, Help, Toasts } from "./shell/overlays.tsx";
import { FailureNotice, PageHead } from "./parts/page.tsx";
import { Palette } from "./shell/palette.tsx";
import { Shell } from "./shell/shell.tsx";
import { pages, NotFound } from "./routes.tsx";
import { SignIn } from "./pages/admin/sign-in.tsx";

/** The whole of it: the sign-in, or the page that the URL names. */
export function App(): JSX.Element | null {
  const [failure, setFailure] = useState<Failure | undefined>();
  useEffect(() => {
    loadSession().catch((error: unknown) => setFailure(failureOf(error)));
  }, []);
  const signedIn = session.value?.signedIn;
  useEffect(() => {
    if (signedIn === true && place.value.path === "/sign-in") navigate(hrefOf("/"), { replace: true });
  }, [signedIn]);
  if (failure !== undefined && signedIn === undefined) return <Broken failure={failure} />;
  if (signedIn === undefined) return null;
  return (
    <>
      {signedIn ? <Signed /> : <SignIn />}
      <Confirmation />
      <Help />
      <Toasts />
    </>
  );
}

function Signed(): JSX.Element {
  return (
    <Shell>
      <CurrentPage />
      <OperationDock />
      <Palette />
    </Shell>
  );
}

function CurrentPage(): JSX.Element {
  const { path } = place.value;
  for (const [pattern, Show] of pages) {
    const names = match(pattern, path);
    // A page of another thing is another page: nothing of the one before may stay in it.
    if (names !== undefined) return <Show {...names} key={path} />;
  }
  return <NotFound />;
}

function Broken({ failure }: { readonly failure: Failure }): JSX.Element {
  return (
    <main class="page">
      <PageHead title="Posthorn" />
      <FailureNotice failure={failure} />
    </main>
  );
}
