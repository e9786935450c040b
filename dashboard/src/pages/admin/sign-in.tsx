import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { failureOf, signIn } from "../../api/api.ts";
import type { Failure } from "../../api/api.ts";
import { hrefOf, navigate, place } from "../../place/location.ts";
import { Act, Copy } from "../../parts/act.tsx";
import { Field } from "../../parts/field.tsx";
import { Mark } from "../../parts/icon.tsx";
import { FailureNotice } from "../../parts/page.tsx";

const COMMAND = "posthorn token create dashboard";

/** Signs in with a token, or with the code of the link that a start prints. */
export function SignIn(): JSX.Element {
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState<Failure | undefined>();
  const enter = async (input: { token: string } | { code: string }): Promise<void> => {
    try {
      await signIn(input);
      if (place.value.path === "/sign-in") navigate(hrefOf("/"), { replace: true });
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  useEffect(() => {
    document.title = "Sign in · Posthorn";
    const code = location.hash.slice(1);
    if (place.value.path !== "/sign-in" || code === "") return;
    // It works once; what stays in the address bar should be worth keeping.
    navigate(hrefOf("/sign-in"), { replace: true });
    void enter({ code });
  }, []);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (token.trim() !== "") void enter({ token: token.trim() });
  };
  return (
    <main class="gate" id="content">
      <div class="gate-card panel">
        <GateHead />
        {failure !== undefined && <FailureNotice failure={{ ...failure, title: "You are not signed in" }} />}
        <form class="form" onSubmit={submit}>
          <Field
            label="Token"
            type="password"
            auto="current-password"
            mono
            placeholder="phk_…"
            value={token}
            onValue={setToken}
            hint="The server printed the first one at its first start."
          />
          <Act
            kind="primary"
            type="submit"
            harmless
            because={token.trim() === "" ? "Paste a token first." : undefined}
          >
            Sign in
          </Act>
        </form>
        <GateFoot />
      </div>
    </main>
  );
}

function GateHead(): JSX.Element {
  return (
    <div class="gate-head">
      <span class="gate-mark">
        <Mark />
      </span>
      <h1>Sign in to Posthorn</h1>
      <p class="dim">
        Use a token of this server’s API. The browser keeps a session for twelve hours, not the token.
      </p>
    </div>
  );
}

function GateFoot(): JSX.Element {
  return (
    <div class="gate-foot small">
      <span class="faint">Another token, on the server’s machine:</span>
      <span class="paste">
        <code>{COMMAND}</code>
        <Copy text={COMMAND} what="the command" />
      </span>
    </div>
  );
}
