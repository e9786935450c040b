import type { ComponentType, JSX } from "preact";
import { Audit } from "./pages/admin/audit.tsx";
import { More } from "./pages/admin/more.tsx";
import { SettingsPage } from "./pages/admin/settings.tsx";
import { Tokens } from "./pages/admin/tokens.tsx";
import { ConsumerPage } from "./pages/consumers/consumer.tsx";
import { Consumers } from "./pages/consumers/consumers.tsx";
import { Dead } from "./pages/dead/dead.tsx";
import { EndpointPage } from "./pages/endpoints/endpoint.tsx";
import { Endpoints } from "./pages/endpoints/endpoints.tsx";
import { Delivery } from "./pages/events/delivery.tsx";
import { Event } from "./pages/events/event.tsx";
import { Events } from "./pages/events/events.tsx";
import { Held } from "./pages/inbox/held.tsx";
import { InboxEventPage } from "./pages/inbox/inbox-event.tsx";
import { Inbox } from "./pages/inbox/inbox.tsx";
import { Refused } from "./pages/inbox/refused.tsx";
import { LanePage } from "./pages/lanes/lane.tsx";
import { Lanes } from "./pages/lanes/lanes.tsx";
import { OperationPage } from "./pages/operations/operation.tsx";
import { Operations } from "./pages/operations/operations.tsx";
import { Overview } from "./pages/overview/overview.tsx";
import { RejectedPage } from "./pages/rejected/rejected-request.tsx";
import { Rejected } from "./pages/rejected/rejected.tsx";
import { Compose } from "./pages/sources/compose.tsx";
import { SourcePage } from "./pages/sources/source.tsx";
import { Sources } from "./pages/sources/sources.tsx";
import { TailPage } from "./pages/tail/tail.tsx";
import { Start } from "./pages/start/start.tsx";
import { Empty, Page } from "./parts/page.tsx";
import { hrefOf } from "./place/location.ts";

type PageComponent = ComponentType<{ readonly id?: string; readonly name?: string }>;

/** Every page by its path, as the server knows them too. */
export const pages: readonly (readonly [pattern: string, page: PageComponent])[] = [
  ["/", Overview],
  ["/sign-in", Overview],
  ["/start", Start],
  ["/more", More],
  ["/events", Events],
  ["/events/:id", Event],
  ["/deliveries/:id", Delivery],
  ["/lanes", Lanes],
  ["/lanes/:id", LanePage],
  ["/dead", Dead],
  ["/operations", Operations],
  ["/operations/:id", OperationPage],
  ["/tail", TailPage],
  ["/rejected", Rejected],
  ["/rejected/:id", RejectedPage],
  ["/endpoints", Endpoints],
  ["/endpoints/:id", EndpointPage],
  ["/sources", Sources],
  ["/sources/:name", SourcePage],
  ["/compose", Compose],
  ["/inbox", Inbox],
  ["/inbox/held", Held],
  ["/inbox/refused", Refused],
  ["/inbox/:name/:id", InboxEventPage],
  ["/consumers", Consumers],
  ["/consumers/:id", ConsumerPage],
  ["/audit", Audit],
  ["/tokens", Tokens],
  ["/settings", SettingsPage],
];

export function NotFound(): JSX.Element {
  return (
    <Page title="Not found" cli={["posthorn --help"]}>
      <Empty
        icon="search"
        title="There is no such page"
        act={
          <a class="btn" href={hrefOf("/")}>
            Go to the overview
          </a>
        }
      >
        The address may be mistyped, or of another version.
      </Empty>
    </Page>
  );
}
