import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CreatedToken, Token } from "posthorn/client";
import { api, session } from "../../api/api.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { oneLine } from "../../words/format.ts";
import { now } from "../../api/live.ts";
import { place, setQuery } from "../../place/location.ts";
import { Act } from "../../parts/act.tsx";
import { Choice, Field, Pick } from "../../parts/field.tsx";
import { ListFoot, useList } from "../../parts/list.tsx";
import { FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";

/** Who may use the API. */
export function Tokens(): JSX.Element {
  const adding = place.value.query.has("add");
  const [made, setMade] = useState<CreatedToken | undefined>();
  const list = useList(
    "tokens",
    (page) => api.tokens.list(page),
    ({ id }) => id,
  );
  return (
    <Page title="Tokens" cli={["posthorn token list", "posthorn token create ci --expires 90d"]}>
      <PageHead
        title="Tokens"
        lede="Access to the API, for programs and for this page. A session ends with its token."
      >
        {!adding && (
          <Act kind="primary" icon="plus" onAct={() => setQuery({ add: "1" })}>
            Create token
          </Act>
        )}
      </PageHead>
      {made !== undefined && (
        <ShownOnce title={`The token ${made.name}`} text={made.token} onDone={() => setMade(undefined)}>
          The server keeps only its hash. It is shown this once.
        </ShownOnce>
      )}
      {adding && <NewToken onMade={setMade} />}
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Tokens" {...list.hold}>
        <TokenTable tokens={list.rows} />
        {list.rows.length > 0 && <ListFoot of={list} noun="token" />}
      </section>
    </Page>
  );
}

const LIVES = [
  ["", "never"],
  ["7", "after a week"],
  ["30", "after 30 days"],
  ["90", "after 90 days"],
  ["365", "after a year"],
] as const;
const DAY_MS = 24 * 3600 * 1000;

function NewToken({ onMade }: { readonly onMade: (token: CreatedToken) => void }): JSX.Element {
  const [name, setName] = useState("");
  const [scope, setScope] = useState<"read" | "full">("read");
  const [days, setDays] = useState("90");
  const create = async (): Promise<void> => {
    await perform(async () => {
      const expiresAt =
        days === "" ? {} : { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() };
      onMade(await api.tokens.create({ name: name.trim(), scope, ...expiresAt }));
      setQuery({ add: undefined });
      return `The token ${name.trim()} is there.`;
    });
  };
  return (
    <Panel title="Create a token">
      <div class="pad">
        <form class="form" onSubmit={(event) => event.preventDefault()}>
          <div class="two">
            <Field
              label="Name"
              placeholder="ci"
              value={name}
              onValue={setName}
              hint="By which you know whose it is."
            />
            <Choice label="Expires" value={days} options={LIVES} onValue={setDays} />
          </div>
          <Pick
            legend="Scope"
            value={scope}
            options={[
              ["read", "Read", "Looks at everything, changes nothing"],
              ["full", "Full", "Changes everything, tokens included"],
            ]}
            onValue={(value) => setScope(value === "full" ? "full" : "read")}
          />
          <div class="btns">
            <Act
              kind="primary"
              type="submit"
              because={name.trim() === "" ? "Give it a name." : undefined}
              onAct={create}
            >
              Create token {name.trim()}
            </Act>
            <Act kind="quiet" harmless onAct={() => setQuery({ add: undefined })}>
              Cancel
            </Act>
          </div>
        </form>
      </div>
    </Panel>
  );
}

function TokenTable({ tokens }: { readonly tokens: readonly Token[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Token</th>
            <th>Scope</th>
            <th class="hide-s">Last used</th>
            <th class="hide-s">Expires</th>
            <th>
              <span class="sr">What you can do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <TokenRow token={token} key={token.id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TokenRow({ token }: { readonly token: Token }): JSX.Element {
  const { id, name, scope, createdAt, expiresAt, lastUsedAt } = token;
  const own = session.value?.tokenId === id;
  const expired = expiresAt !== null && Date.parse(expiresAt) <= now.value;
  return (
    <tr data-row class="tall">
      <td>
        <span class="main-cell">{oneLine(name, 60)}</span> {own && <span class="faint small">yours</span>}
        <span class="sub mono">
          {id}, <Ago at={createdAt} />
        </span>
      </td>
      <td>{scope}</td>
      <td class="dim hide-s">{lastUsedAt === null ? "never" : <Ago at={lastUsedAt} />}</td>
      <td class="dim hide-s">
        {expired ? (
          <State look={{ tone: "disabled", icon: "s-disabled", word: "expired" }} />
        ) : expiresAt === null ? (
          "never"
        ) : (
          <Ago at={expiresAt} />
        )}
      </td>
      <td class="num">
        <Act small kind="danger" onAct={() => revoke(token, own)}>
          Revoke…
        </Act>
      </td>
    </tr>
  );
}

async function revoke({ id, name }: Token, own: boolean): Promise<void> {
  const yes = await confirmed({
    title: `Revoke ${name}?`,
    body: (
      <p>
        Whoever uses it is refused from now on.{" "}
        {own && <b>It is the token of this session: you are signed out.</b>} This cannot be undone.
      </p>
    ),
    act: `Revoke ${name}`,
    danger: true,
  });
  if (!yes) return;
  await perform(async () => {
    await api.tokens.remove(id);
    return `${name} is revoked.`;
  });
}
