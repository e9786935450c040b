import type { ComponentType, JSX } from "preact";
import { hrefOf } from "./location.ts";
import { Dead } from "./pages/dead.tsx";
import { Delivery } from "./pages/delivery.tsx";
import { EndpointPage } from "./pages/endpoint.tsx";
import { Endpoints } from "./pages/endpoints.tsx";
import { Event } from "./pages/event.tsx";
import { Events } from "./pages/events.tsx";
import { LanePage } from "./pages/lane.tsx";
import { Lanes } from "./pages/lanes.tsx";
import { More } from "./pages/more.tsx";
import { Overview } from "./pages/overview.tsx";
import { RejectedPage } from "./pages/rejected-request.tsx";
import { Rejected } from "./pages/rejected.tsx";
import { SourcePage } from "./pages/source.tsx";
import { Sources } from "./pages/sources.tsx";
import { Start } from "./pages/start.tsx";
import { Tokens } from "./pages/tokens.tsx";
import { Empty, Page } from "./parts/page.tsx";

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
  ["/rejected", Rejected],
  ["/rejected/:id", RejectedPage],
  ["/endpoints", Endpoints],
  ["/endpoints/:id", EndpointPage],
  ["/sources", Sources],
  ["/sources/:name", SourcePage],
  ["/tokens", Tokens],
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
