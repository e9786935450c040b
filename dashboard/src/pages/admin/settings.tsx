import type { JSX } from "preact";
import type { Status } from "posthorn/client";
import { useStatus } from "../../api/status.ts";
import { Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { count, oneLine } from "../../words/format.ts";

/** The nodes that run, and their versions. */
export function SettingsPage(): JSX.Element {
  const status = useStatus();
  return (
    <Page title="Settings" cli={["posthorn status", "posthorn config show"]} get={["/status"]}>
      <PageHead title="Settings" lede="The nodes that share this database." />
      <Loaded of={status} what="the nodes">
        {({ nodes }) => <Nodes nodes={nodes} />}
      </Loaded>
    </Page>
  );
}

function Nodes({ nodes }: Pick<Status, "nodes">): JSX.Element {
  return (
    <Panel title="Nodes" end={count(nodes.length, "node")}>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th>Node</th>
              <th>Seen</th>
              <th class="hide-s">Roles</th>
              <th class="hide-s">Version</th>
              <th class="num">Started</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map(({ name, roles, version, startedAt, seenAt }) => (
              <tr data-row key={name}>
                <td class="mono">{oneLine(name, 60)}</td>
                <td>
                  <State look={{ tone: "landed", icon: "s-active", word: "" }}>
                    <Ago at={seenAt} />
                  </State>
                </td>
                <td class="dim hide-s">{roles.join(", ")}</td>
                <td class="dim hide-s">{oneLine(version, 30)}</td>
                <td class="num dim">
                  <Ago at={startedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
