import type { JSX } from "preact";
import type { InboxEvent } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Copy } from "../../parts/act.tsx";
import { CopyAs } from "../../parts/copy-as.tsx";
import { Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Pager, useWalkKeys } from "../../parts/pager.tsx";
import { Fact, Facts } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { Clock } from "../../parts/time.tsx";
import { eventHref, shellWord } from "../../place/links.ts";
import { hrefOf, place } from "../../place/location.ts";
import { byteSize, oneLine, shortId } from "../../words/format.ts";
import { inboxLook } from "../../words/words.ts";
import { AtConsumers } from "./at-consumers.tsx";
import { Failures, RefusedHere } from "./failures.tsx";
import { HeldNotice } from "./held.tsx";
import { consumersOf, inboxEventLook } from "./standing.ts";

interface EventProps {
  /** The source. */
  readonly name?: string;
  readonly id?: string;
}

/** One event of the inbox: what each consumer made of it, what failed, and what was refused under its id. */
export function InboxEventPage({ name = "", id = "" }: EventProps): JSX.Element {
  useWalkKeys();
  const tenant = place.value.query.get("tenant") ?? undefined;
  const full = `${name}/${id}`;
  const found = useLive(`inbox ${tenant ?? ""} ${full}`, () => api.inbox.get(full, { tenant }));
  const flag = tenant === undefined ? "" : ` --tenant ${shellWord(tenant)}`;
  const cli = `posthorn inbox show ${shellWord(full)}${flag}`;
  const query = tenant === undefined ? "" : `?tenant=${encodeURIComponent(tenant)}`;
  const get = `/inbox/${encodeURIComponent(full)}${query}`;
  return (
    <Page title={`${oneLine(id, 60)} in the inbox`} cli={[cli]} get={[get]}>
      <Loaded of={found} what={`event ${oneLine(full, 80)} in the inbox`}>
        {(event) => <Found event={event} get={get} cli={cli} />}
      </Loaded>
    </Page>
  );
}

interface FoundProps {
  readonly event: InboxEvent;
  readonly get: string;
  readonly cli: string;
}

function Found({ event, get, cli }: FoundProps): JSX.Element {
  const { id, source, rows, deliveries, refused, failures } = event;
  const all = consumersOf(event);
  // A server of another version may not say it.
  const { held = [] } = event as Partial<InboxEvent>;
  const isHeld = held.some(({ heldSince }) => heldSince !== null);
  const type = rows[0]?.type ?? deliveries[0]?.type ?? held[0]?.type ?? refused[0]?.type ?? id;
  return (
    <>
      <PageHead
        title={oneLine(type, 100)}
        crumbs={[
          ["Inbox", hrefOf("/inbox")],
          [oneLine(source, 40), hrefOf("/inbox", { source })],
        ]}
        badge={<Badge look={isHeld ? inboxLook("held") : inboxEventLook(all)} />}
      >
        <Pager />
        <CopyAs id={id} get={get} cli={cli} />
      </PageHead>
      <EventFacts event={event} />
      {held.map((each) => (
        <HeldNotice held={each} key={each.id} />
      ))}
      {all.length > 0 && <AtConsumers all={all} />}
      {failures.length > 0 && <Failures failures={failures} />}
      {refused.length > 0 && <RefusedHere refused={refused} />}
    </>
  );
}

function EventFacts({ event }: { readonly event: InboxEvent }): JSX.Element {
  const { eventId, tenant, rows, deliveries } = event;
  const [row] = rows;
  const stored = row?.storedAs ?? deliveries[0]?.eventId ?? event.held[0]?.id ?? null;
  return (
    <Facts>
      <Fact label="Event" mono>
        <span class="cut">{oneLine(row?.idPreview ?? eventId, 60)}</span>
        <Copy text={eventId} what="the id" />
      </Fact>
      <Fact label="Story" mono={stored !== null}>
        {stored === null ? (
          <span class="dim">handled within its request; nothing is stored</span>
        ) : (
          <a class="link" href={eventHref(stored, tenant)}>
            {shortId(stored)}
          </a>
        )}
      </Fact>
      {row !== undefined && (
        <>
          <Fact label="Received">
            <Clock at={row.receivedAt} />
            {row.receipts > 1 && <span class="faint">and {row.receipts - 1} more times</span>}
          </Fact>
          <Fact label="Body">{byteSize(row.bodyBytes)}</Fact>
          <Fact label="Remembered until">
            {row.keepUntil === null ? "for ever" : <Clock at={row.keepUntil} />}
          </Fact>
        </>
      )}
      {tenant !== "default" && <Fact label="Tenant">{oneLine(tenant, 60)}</Fact>}
    </Facts>
  );
}
