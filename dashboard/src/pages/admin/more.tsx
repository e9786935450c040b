import type { JSX } from "preact";
import { hrefOf } from "../../place/location.ts";
import { Icon } from "../../parts/icon.tsx";
import { Page, PageHead } from "../../parts/page.tsx";
import { MORE } from "../../shell/nav.ts";
import { switchTheme } from "../../shell/theme.ts";

/** What a phone's bar has no room for. */
export function More(): JSX.Element {
  return (
    <Page title="More" cli={["posthorn --help"]}>
      <PageHead title="More" />
      <nav class="panel more-list" aria-label="More pages">
        {MORE.map(({ path, icon, label }) => (
          <a href={hrefOf(path)} key={path}>
            <Icon name={icon} />
            {label}
            <Icon name="right" class="sm" />
          </a>
        ))}
        <button type="button" onClick={switchTheme}>
          <Icon name="moon" />
          Switch the theme
        </button>
      </nav>
    </Page>
  );
}
