import type { JSX } from "preact";
import { basePath } from "../place/base-path.ts";
import { shellWord } from "../place/links.ts";
import { copy } from "../shell/deeds.ts";
import { Icon } from "./icon.tsx";

/** The same question as a command; the token comes from the environment, so that no secret stands in it. */
export function curlOf(path: string): string {
  const url = shellWord(`${location.origin}${basePath}/api/v1${path}`);
  return `curl -H "authorization: Bearer $POSTHORN_TOKEN" ${url}`;
}

interface CopyAsProps {
  readonly id: string;
  /** What the API is asked for it. */
  readonly get: string;
  readonly cli: string;
}

/** Takes a thing along: as a link, an id, a curl or a posthorn command. */
export function CopyAs({ id, get, cli }: CopyAsProps): JSX.Element {
  const ways = [
    ["Link", () => location.href, "the link"],
    ["Id", () => id, "the id"],
    ["curl", () => curlOf(get), "the curl command"],
    ["posthorn command", () => cli, "the command"],
  ] as const;
  return (
    <details class="menu copy-as">
      <summary class="btn">
        <Icon name="copy" />
        Copy as
        <Icon name="down" class="after sm" />
      </summary>
      <div class="menu-body">
        {ways.map(([label, text, what]) => (
          <button
            class="menu-item"
            type="button"
            key={label}
            onClick={(event) => {
              event.currentTarget.closest("details")?.removeAttribute("open");
              void copy(text(), what);
            }}
          >
            {label}
          </button>
        ))}
      </div>
    </details>
  );
}
