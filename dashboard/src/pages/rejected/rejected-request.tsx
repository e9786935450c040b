import type { JSX } from "preact";
import type { RejectedRequest } from "posthorn/client";
import { api } from "../../api/api.ts";
import { byteSize, oneLine } from "../../words/format.ts";
import { sourceHref } from "../../place/links.ts";
import { useLive } from "../../api/live.ts";
import { hrefOf, navigate } from "../../place/location.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { Act, Copy } from "../../parts/act.tsx";
import { ExactBody, HeaderTable } from "../../parts/code.tsx";
import { BodyFoot } from "../events/event-body.tsx";
import { Shape } from "../../parts/icon.tsx";
import { CopyAs } from "../../parts/copy-as.tsx";
import { Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Pager, useWalkKeys } from "../../parts/pager.tsx";
import { Fact, Facts, Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { Clock } from "../../parts/time.tsx";
import { verdictWords } from "../../words/words.ts";

/** One request that was not taken in: the verdict, what was found, and what was sent. */
export function RejectedPage({ id = "" }: { readonly id?: string }): JSX.Element {
  useWalkKeys();
  const found = useLive(`rejected ${id}`, () => api.rejected.get(id), { once: true });
  return (
    <Page title="Rejected request" cli={[`posthorn rejected show ${id}`, `posthorn rejected retry ${id}`]}>
      <Loaded of={found} what={`rejected request ${oneLine(id, 60)}`}>
        {(request) => <Request request={request} />}
      </Loaded>
    </Page>
  );
}

function Request({ request }: { readonly request: RejectedRequest }): JSX.Element {
  const { id, source, code, message, diagnosis, receivedAt, method, headers, bodyBytes } = request;
  return (
    <>
      <PageHead
        title={verdictWords(code)}
        crumbs={[
          ["Rejected", hrefOf("/rejected")],
          [oneLine(source, 40), hrefOf("/rejected", { source })],
        ]}
        badge={<Badge look={{ tone: "halted", icon: "s-attempt", word: code }} />}
        lede={oneLine(message, 600)}
      >
        <Pager />
        <Act icon="redrive" onAct={() => takeIn(request)}>
          Take it in again…
        </Act>
        <CopyAs id={id} get={`/rejected/${encodeURIComponent(id)}`} cli={`posthorn rejected show ${id}`} />
      </PageHead>
      <Facts>
        <Fact label="Request" mono>
          {id}
          <Copy text={id} what="the id" />
        </Fact>
        <Fact label="Source">
          <a class="link" href={sourceHref(source)}>
            {oneLine(source, 40)}
          </a>
        </Fact>
        <Fact label="Received">
          <Clock at={receivedAt} />
        </Fact>
        <Fact label="Body">{byteSize(bodyBytes)}</Fact>
      </Facts>
      {diagnosis.length > 0 && (
        <Panel title="What was found">
          <ul class="pad checks">
            {diagnosis.map((finding) => (
              <li class="s-retrying" key={finding}>
                <Shape name="s-failing" />
                <span>{oneLine(finding, 600)}</span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <div class="cols-half">
        <Panel title="Headers" end={`${oneLine(method, 10)}, without credentials`}>
          <HeaderTable headers={headers} />
        </Panel>
        <RejectedBody id={id} bodyBytes={bodyBytes} />
      </div>
    </>
  );
}

/** Asks, and judges the request again by its source as it is now; leads to what was stored. */
async function takeIn({ id, source }: RejectedRequest): Promise<boolean> {
  const yes = await confirmed({
    title: "Take it in again?",
    body: (
      <p>
        {oneLine(source, 40)} judges it as it is now, by the time at which it was received. If it is accepted,
        it is stored once, its endpoints get it, and it is no longer listed here.
      </p>
    ),
    act: "Take it in again",
  });
  if (!yes) return false;
  return perform(async () => {
    const { events } = await api.rejected.retry(id);
    const [first] = events;
    if (first !== undefined) navigate(hrefOf(`/events/${encodeURIComponent(first.id)}`));
    return events.map((event) => `${event.id}: ${event.verdict}`).join(", ");
  });
}

function RejectedBody({ id, bodyBytes }: { readonly id: string; readonly bodyBytes: number }): JSX.Element {
  const body = useLive(`rejected body ${id}`, () => api.rejected.body(id), { once: true });
  return (
    <Panel title="Body" end="its first bytes">
      <div class="pad">
        <Loaded of={body} what="the body">
          {(bytes) => (
            <>
              {bytes.length === 0 ? (
                <p class="faint small">Nothing of it is kept.</p>
              ) : (
                <ExactBody bytes={bytes} label="Body as received" />
              )}
              <BodyFoot
                bytes={bytes}
                words={`${byteSize(bytes.length)} of ${byteSize(bodyBytes)}`}
                href={hrefOf(`/api/v1/rejected/${encodeURIComponent(id)}/body`)}
              />
            </>
          )}
        </Loaded>
      </div>
    </Panel>
  );
}
