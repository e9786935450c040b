import type { JSX } from "preact";
import type { SettingInForce, Status } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { useStatus } from "../../api/status.ts";
import { Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { count, oneLine } from "../../words/format.ts";

/** The nodes that run, and the settings in force on the one that answers. */
export function SettingsPage(): JSX.Element {
  const status = useStatus();
  const settings = useLive("settings", () => api.settings(), { everyMs: 30_000 });
  return (
    <Page
      title="Settings"
      cli={["posthorn config --effective", "posthorn status"]}
      get={["/settings", "/status"]}
    >
      <PageHead
        title="Settings"
        lede="The nodes that share this database, and what the one that answers runs with. Flags, variables and the file decide; secrets are not shown."
      />
      <Loaded of={status} what="the nodes">
        {({ nodes }) => <Nodes nodes={nodes} />}
      </Loaded>
      <Loaded of={settings} what="the settings">
        {({ items, node }) => <InForce items={items} node={node} />}
      </Loaded>
    </Page>
  );
}

interface InForceProps {
  readonly items: readonly SettingInForce[];
  readonly node: string;
}

function InForce({ items, node }: InForceProps): JSX.Element {
  const sections = [...new Set(items.map(({ section }) => section))];
  return (
    <>
      {sections.map((section, index) => (
        <Panel
          title={section}
          end={index === 0 ? `in force on ${oneLine(node, 50)}` : undefined}
          key={section}
        >
          <div class="table-wrap">
            <table class="table settings">
              <thead class="sr">
                <tr>
                  <th>Setting</th>
                  <th>Value</th>
                  <th>From</th>
                </tr>
              </thead>
              <tbody>
                {items
                  .filter((item) => item.section === section)
                  .map((item) => (
                    <SettingRow item={item} key={item.key} />
                  ))}
              </tbody>
            </table>
          </div>
        </Panel>
      ))}
    </>
  );
}

function SettingRow({ item }: { readonly item: SettingInForce }): JSX.Element {
  const { key, value, origin, says } = item;
  const own = origin !== "default";
  return (
    <tr class="tall">
      <td>
        <span class="mono main-cell">{key}</span>
        <span class="sub wrap">{says}</span>
      </td>
      <td class="mono">{value === null ? <span class="faint">none</span> : oneLine(value, 80)}</td>
      <td class={own ? "nowrap" : "faint nowrap"}>{oneLine(origin, 60)}</td>
    </tr>
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
