import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Failure } from "../api/api.ts";
import type { Live } from "../api/live.ts";
import { copy } from "../shell/deeds.ts";
import { Copy } from "./act.tsx";
import { curlOf } from "./copy-as.tsx";
import { Icon, Shape } from "./icon.tsx";

interface PageProps {
  /** For the tab of the browser. */
  readonly title: string;
  /** The commands that show or do the same. */
  readonly cli: readonly string[];
  /** What the API is asked for this page, for whoever wants to ask it too. */
  readonly get?: readonly string[];
  readonly children: ComponentChildren;
  readonly aside?: ComponentChildren;
}

/** The content of a page, and below it the same by the command line. */
export function Page({ title, cli, get = [], children, aside }: PageProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · Posthorn`;
  }, [title]);
  return (
    <>
      <main class="page" id="content" tabIndex={-1}>
        {children}
      </main>
      <footer class="cli">
        <Icon name="terminal" class="sm" />
        <span>The same by CLI</span>
        {cli.map((command) => (
          <span class="cmd" key={command}>
            <code>{command}</code>
            <Copy text={command} what="the command" />
          </span>
        ))}
        {get.length > 0 && (
          <button
            class="btn sm quiet"
            type="button"
            onClick={() => void copy(get.map((path) => curlOf(path)).join("\n"), "it as curl")}
          >
            Copy as curl
          </button>
        )}
        {aside !== undefined && <span class="end">{aside}</span>}
      </footer>
    </>
  );
}

interface HeadProps {
  readonly title: ComponentChildren;
  readonly crumbs?: readonly (readonly [label: string, href: string])[];
  readonly badge?: ComponentChildren;
  readonly lede?: ComponentChildren;
  /** Buttons. */
  readonly children?: ComponentChildren;
}

export function PageHead({ title, crumbs = [], badge, lede, children }: HeadProps): JSX.Element {
  return (
    <header class="page-head">
      <div class="titles">
        {crumbs.length > 0 && (
          <nav class="crumbs" aria-label="Path">
            {crumbs.map(([label, href], index) => (
              <span class="crumb" key={href}>
                {index > 0 && <Icon name="right" />}
                <a href={href}>{label}</a>
              </span>
            ))}
          </nav>
        )}
        <div class="title-row">
          <h1>{title}</h1>
          {badge}
        </div>
        {lede !== undefined && <p class="lede">{lede}</p>}
      </div>
      {children !== undefined && <div class="end">{children}</div>}
    </header>
  );
}

/** What happened, and what to do. */
export function FailureNotice({ failure }: { readonly failure: Failure }): JSX.Element {
  const { title, detail, requestId } = failure;
  return (
    <div class="notice s-halted" role="alert">
      <Shape name="s-failing" />
      <div>
        <b>{title}.</b> {detail}
        {requestId !== undefined && <span class="faint small"> In the server’s log: {requestId}</span>}
      </div>
    </div>
  );
}

interface LoadedProps<T> {
  readonly of: Live<T>;
  readonly children: (data: T) => ComponentChildren;
  /** What is missing, for the words: "event evt_1". */
  readonly what: string;
}

/** Shows what is known. Old figures stay while new ones fail to come, and it is said that they are old. */
export function Loaded<T>({ of, children, what }: LoadedProps<T>): JSX.Element {
  const { data, failure } = of;
  if (data === undefined && failure === undefined) return <Waiting what={what} />;
  if (data === undefined && failure?.missing === true) return <Missing what={what} />;
  return (
    <>
      {failure !== undefined && <FailureNotice failure={failure} />}
      {data !== undefined && children(data)}
    </>
  );
}

/** The bones of a page: nothing jumps when the first answer comes. */
function Waiting({ what }: { readonly what: string }): JSX.Element {
  return (
    <div class="bones" role="status">
      <span class="sr">Asking for {what}</span>
      <i class="bone wide" />
      <i class="bone" />
      <i class="bone block" />
    </div>
  );
}

function Missing({ what }: { readonly what: string }): JSX.Element {
  return (
    <Empty icon="search" title={`There is no ${what}`}>
      It may have been removed, or belong to another tenant.
    </Empty>
  );
}

interface EmptyProps {
  readonly icon: string;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly act?: ComponentChildren;
}

/** Nothing is here: why, and what to do. */
export function Empty({ icon, title, children, act }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} />
      <b>{title}</b>
      <p>{children}</p>
      {act}
    </div>
  );
}
