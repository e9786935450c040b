import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { EventDetail, Repeat } from "posthorn/client";
import { api } from "../../api/api.ts";
import { copy } from "../../shell/deeds.ts";
import { utf8Of } from "../../words/exact-json.ts";
import { byteSize, oneLine } from "../../words/format.ts";
import { useLive } from "../../api/live.ts";
import { hrefOf, place } from "../../place/location.ts";
import { Compare } from "./compare.tsx";
import { Act, Copy } from "../../parts/act.tsx";
import { ExactBody, HeaderTable, HexBody } from "../../parts/code.tsx";
import { Loaded } from "../../parts/page.tsx";

const TABS = ["body", "headers", "raw", "compare"] as const;

interface EventBodyProps {
  readonly event: EventDetail;
  /** What came again under the same id. */
  readonly repeats: readonly Repeat[];
}

/** What was sent: body, headers, bytes, and what came later under the same id. */
export function EventBody({ event, repeats }: EventBodyProps): JSX.Element {
  const { id, tenant, contentType, bodyBytes, headers } = event;
  const asked = place.value.query.get("tab");
  const tab = TABS.find((name) => name === asked) ?? "body";
  const body = useLive(`body ${tenant} ${id}`, () => api.events.body(id, { tenant }), { once: true });
  const number = Object.keys(headers).length;
  return (
    <section class="panel" aria-label="What is sent">
      <nav class="tabs in-panel" aria-label="Of this event">
        <Tab name="body" current={tab}>
          Body
        </Tab>
        <Tab name="headers" current={tab}>
          Headers <span class="n">{number}</span>
        </Tab>
        <Tab name="raw" current={tab}>
          Raw bytes
        </Tab>
        {repeats.length > 0 && (
          <Tab name="compare" current={tab}>
            Came again <span class="n">{repeats.reduce((sum, { receipts }) => sum + receipts, 0)}</span>
          </Tab>
        )}
      </nav>
      <div class="pad pt">
        {tab === "headers" && <HeaderTable headers={headers} />}
        {tab !== "headers" && (
          <Loaded of={body} what="the body">
            {(bytes) => (
              <>
                {tab === "body" && <ExactBody bytes={bytes} label="Body as sent" />}
                {tab === "raw" && <HexBody bytes={bytes} label="Bytes" />}
                {tab === "compare" &&
                  repeats.map((repeat, index) => <Compare first={bytes} repeat={repeat} key={index} />)}
                <BodyFoot
                  bytes={bytes}
                  words={`${oneLine(contentType, 80)}, ${byteSize(bodyBytes)}`}
                  href={bodyHref(event)}
                />
              </>
            )}
          </Loaded>
        )}
      </div>
    </section>
  );
}

function bodyHref({ id, tenant }: EventDetail): string {
  return hrefOf(`/api/v1/events/${encodeURIComponent(id)}/body`, { tenant });
}

function Tab(props: {
  readonly name: string;
  readonly current: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { name, current, children } = props;
  const query = { ...Object.fromEntries(place.value.query), tab: name === "body" ? undefined : name };
  return (
    <a href={hrefOf(place.value.path, query)} {...(name === current && { "aria-current": "page" as const })}>
      {children}
    </a>
  );
}

interface FootProps {
  readonly bytes: Uint8Array;
  readonly words: string;
  readonly href: string;
}

/** What the bytes are, their hash, and ways to take them along. */
export function BodyFoot({ bytes, words, href }: FootProps): JSX.Element {
  const text = utf8Of(bytes);
  const hash = useHash(bytes);
  return (
    <div class="meta small faint">
      <span class="meta-words">
        <span>{words}</span>
        {hash !== undefined && (
          <span class="mono" title={hash}>
            sha256 {hash.slice(0, 4)}…{hash.slice(-4)}
            <Copy text={hash} what="the hash" />
          </span>
        )}
      </span>
      <span class="btns">
        {text !== undefined && (
          <Act small kind="quiet" icon="copy" harmless onAct={() => copy(text, "the body")}>
            Copy body
          </Act>
        )}
        <a class="btn sm quiet" href={href} download>
          Keep the file
        </a>
      </span>
    </div>
  );
}

/** Browsers hash only where nobody on the way could have changed the page. */
function useHash(bytes: Uint8Array): string | undefined {
  const [hash, setHash] = useState<string | undefined>();
  useEffect(() => {
    if (!isSecureContext) return;
    void crypto.subtle
      .digest("SHA-256", new Uint8Array(bytes))
      .then((digest) =>
        setHash([...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")),
      );
  }, [bytes]);
  return hash;
}
