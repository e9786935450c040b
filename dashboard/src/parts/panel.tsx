import type { ComponentChildren, JSX } from "preact";

interface PanelProps {
  readonly title?: string;
  /** At the right of the title. */
  readonly end?: ComponentChildren;
  readonly badge?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Panel({ title, end, badge, class: more = "", children }: PanelProps): JSX.Element {
  return (
    <section class={`panel ${more}`} {...(title !== undefined && { "aria-label": title })}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {badge}
          {end !== undefined && <span class="end">{end}</span>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Facts in a row: label over value. */
export function Facts({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="facts">{children}</dl>;
}

interface FactProps {
  readonly label: string;
  readonly mono?: boolean;
  readonly children: ComponentChildren;
}

export function Fact({ label, mono = false, children }: FactProps): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={mono ? "mono" : ""}>{children}</dd>
    </div>
  );
}

interface SettingProps {
  readonly label: string;
  readonly why?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A setting in a `.kv` list: what it is, and what follows from it. */
export function Setting({ label, why, children }: SettingProps): JSX.Element {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {children}
        {why !== undefined && <span class="why">{why}</span>}
      </dd>
    </>
  );
}
