import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Endpoint } from "posthorn/client";
import { api } from "../../api/api.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { count } from "../../words/format.ts";
import { newSecret } from "../start/sample.ts";
import { Act } from "../../parts/act.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";

/** How many secrets sign, and new ones. They are never shown again. */
export function Secrets({ endpoint }: { readonly endpoint: Endpoint }): JSX.Element {
  const { id, secretCount } = endpoint;
  const [made, setMade] = useState<string | undefined>();
  const replace = async (): Promise<void> => {
    const secret = newSecret("standard_webhooks");
    const yes = await confirmed({
      title: `Replace the secrets of ${id}?`,
      body: (
        <p>
          <b>From the next attempt on, only the new one signs.</b> A receiver that still has the old one
          refuses what comes, and it is retried. To let both sign for a while, use the CLI with the new and
          the old secret.
        </p>
      ),
      act: "Replace the secrets",
      danger: true,
    });
    if (!yes) return;
    const done = await perform(async () => {
      await api.endpoints.update(id, { secrets: [secret] });
      return `${id} signs with a new secret.`;
    });
    if (done) setMade(secret);
  };
  if (made !== undefined) {
    return (
      <ShownOnce title={`The new secret of ${id}`} text={made} onDone={() => setMade(undefined)}>
        Give it to the receiver now. It is shown this once.
      </ShownOnce>
    );
  }
  return (
    <Panel
      title="Secrets"
      end={
        <Act small icon="key" onAct={replace}>
          Replace…
        </Act>
      }
    >
      <div class="pad">
        <p class="dim small">
          {count(secretCount, "secret")} {secretCount === 1 ? "signs" : "sign"} each delivery. The server
          keeps {secretCount === 1 ? "it" : "them"} sealed, and shows none again.
        </p>
      </div>
    </Panel>
  );
}
