import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Source } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Act } from "../../parts/act.tsx";
import { Choice, Field, TextArea } from "../../parts/field.tsx";
import { Shape } from "../../parts/icon.tsx";
import { Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { eventHref } from "../../place/links.ts";
import { hrefOf, place, setQuery } from "../../place/location.ts";
import { isSafe, jsonLines } from "../../words/exact-json.ts";
import { byteSize, oneLine } from "../../words/format.ts";
import { canSign, sampleBody, sampleId, sampleType, signed } from "../start/sample.ts";
import { newestOf, sendTo } from "../start/send-sample.ts";
import { providerOf } from "./providers.ts";
import { triggerLine } from "./trigger-line.ts";

/** Makes a request by hand: pick a provider's sample, change it, sign it, send it. */
export function Compose(): JSX.Element {
  const sources = useLive("sources", () => api.sources.list({ limit: 100 }));
  const name = place.value.query.get("source") ?? "";
  const items = sources.data?.items ?? [];
  const source = items.find((each) => each.name === name) ?? items[0];
  return (
    <Page title="Compose" cli={source === undefined ? [] : [triggerLine(source)]}>
      <PageHead
        title="Compose an event"
        crumbs={[["Sources", hrefOf("/sources")]]}
        lede="Send what a provider would send, to try a source and all that comes after it. The event is real: endpoints get it."
      />
      <Loaded of={sources} what="the sources">
        {() => <Composer sources={items} source={source} key={source?.name ?? ""} />}
      </Loaded>
    </Page>
  );
}

interface Draft {
  readonly secret: string;
  readonly type: string;
  readonly key: string;
  readonly body: string;
}

/** What came of it. */
type Result =
  | { readonly kind: "stored"; readonly id: string; readonly words: string }
  | { readonly kind: "refused"; readonly words: string };

interface ComposerProps {
  readonly sources: readonly Source[];
  readonly source: Source | undefined;
}

function draftOf(source: Source | undefined): Draft {
  const scheme = source?.scheme ?? "";
  const compact = sampleBody({ scheme, nowMs: Date.now(), id: sampleId() });
  const lines = jsonLines(compact)?.map(({ pieces }) => pieces.map(({ text }) => text).join(""));
  return { secret: "", type: sampleType(scheme), key: "", body: lines?.join("\n") ?? compact };
}

function Composer({ sources, source }: ComposerProps): JSX.Element {
  const [draft, setDraft] = useState(() => draftOf(source));
  const [result, setResult] = useState<Result | undefined>();
  const change = (part: Partial<Draft>): void => {
    setDraft({ ...draft, ...part });
    setResult(undefined);
  };
  const signs = source !== undefined && canSign(source.scheme) && isSecureContext;
  const send = async (): Promise<void> => {
    try {
      setResult(await (signs ? sendSigned(source, draft) : publish(source, draft)));
    } catch (error) {
      setResult({ kind: "refused", words: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <div class="cols-half compose">
      <Panel title="Request">
        <form class="pad form" onSubmit={(event) => event.preventDefault()}>
          <SourceChoice sources={sources} source={source} />
          {signs ? (
            <SignedFields draft={draft} change={change} />
          ) : (
            <PlainFields draft={draft} change={change} />
          )}
          <TextArea
            label="Body"
            value={draft.body}
            onValue={(body) => change({ body })}
            hint={bodyHint(draft.body)}
          />
          <div class="btns">
            <Act kind="primary" icon="send" type="submit" because={missing(draft, signs)} onAct={send}>
              {signs ? `Sign and send to ${source.name}` : "Publish"}
            </Act>
            <Act
              kind="quiet"
              harmless
              onAct={() => {
                setDraft({ ...draftOf(source), secret: draft.secret });
                setResult(undefined);
              }}
            >
              Begin anew
            </Act>
          </div>
        </form>
      </Panel>
      <ResultPanel result={result} tenant={source?.tenant ?? "default"} source={source?.name} />
    </div>
  );
}

function SourceChoice({ sources, source }: ComposerProps): JSX.Element {
  return (
    <Choice
      label="To the source"
      value={source?.name ?? ""}
      options={
        sources.length === 0
          ? [["", "none: through the API"]]
          : sources.map((each) => [each.name, `${each.name}, ${providerOf(each.scheme).title}`] as const)
      }
      onValue={(name) => setQuery({ source: name })}
    />
  );
}

function bodyHint(body: string): string {
  const bytes = new TextEncoder().encode(body).length;
  const lines = jsonLines(body);
  if (lines === undefined) return `${byteSize(bytes)}; it is not JSON, and is sent as it is.`;
  const exact = (body.match(/-?\d[\d.eE+-]*/g) ?? []).every((literal) => isSafe(literal));
  return `${byteSize(bytes)} of JSON${exact ? "" : "; its large numbers are sent as written"}.`;
}

function missing({ secret, body, type }: Draft, signs: boolean): string | undefined {
  if (body === "") return "Write a body.";
  if (signs) return secret === "" ? "Give the source’s secret: without it, nobody can sign." : undefined;
  return type.trim() === "" ? "Give it a type." : undefined;
}

interface FieldsProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

function SignedFields({ draft, change }: FieldsProps): JSX.Element {
  return (
    <Field
      label="Secret of the source"
      type="password"
      auto="off"
      mono
      value={draft.secret}
      onValue={(secret) => change({ secret })}
      hint="This page signs with it, and sends it nowhere. The server never shows the one that it keeps. A wrong one shows how a rejection looks."
    />
  );
}

function PlainFields({ draft, change }: FieldsProps): JSX.Element {
  return (
    <div class="two">
      <Field
        label="Type"
        value={draft.type}
        onValue={(type) => change({ type })}
        hint="Requests of this provider are not signed here: it is published through the API."
      />
      <Field
        label="Key"
        value={draft.key}
        onValue={(key) => change({ key })}
        hint="Events of one key stay in order."
      />
    </div>
  );
}

async function sendSigned(source: Source, { secret, body }: Draft): Promise<Result> {
  const request = await signed({ scheme: source.scheme, secret, body, nowMs: Date.now(), id: sampleId() });
  if (request === undefined) return { kind: "refused", words: "It could not be signed." };
  const { status, text } = await sendTo(source, request);
  if (status >= 300)
    return { kind: "refused", words: `The source answered ${status}. ${oneLine(text, 300)}` };
  return { kind: "stored", id: await newestOf(source), words: `The source answered ${status}.` };
}

async function publish(source: Source | undefined, { type, key, body }: Draft): Promise<Result> {
  const bytes = new TextEncoder().encode(body);
  const from = source === undefined ? {} : { source: source.name, tenant: source.tenant };
  const { id } = await api.events.publish({
    type: type.trim(),
    body: btoa(String.fromCharCode(...bytes)),
    contentType: "application/json",
    ...(key.trim() !== "" && { key: key.trim() }),
    ...from,
  });
  return { kind: "stored", id, words: "It is stored." };
}

interface ResultProps {
  readonly result: Result | undefined;
  readonly tenant: string;
  readonly source: string | undefined;
}

function ResultPanel({ result, tenant, source }: ResultProps): JSX.Element {
  return (
    <Panel title="What came of it">
      <div class="pad" role="status">
        {result === undefined && <p class="dim small">Nothing has been sent yet.</p>}
        {result?.kind === "stored" && (
          <div class="form">
            <div class="notice s-landed">
              <Shape name="s-landed" />
              <span>{result.words}</span>
            </div>
            <a class="btn primary" href={eventHref(result.id, tenant)}>
              Read its story
            </a>
          </div>
        )}
        {result?.kind === "refused" && (
          <div class="form">
            <div class="notice s-halted">
              <Shape name="s-failing" />
              <span>{oneLine(result.words, 600)}</span>
            </div>
            {source !== undefined && (
              <a class="btn" href={hrefOf("/rejected", { source })}>
                See why, among the rejected requests
              </a>
            )}
          </div>
        )}
      </div>
    </Panel>
  );
}
