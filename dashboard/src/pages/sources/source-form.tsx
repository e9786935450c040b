import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Source, SourceInput } from "posthorn/client";
import { isPosthornError, problemOf } from "posthorn/client";
import { api, failureOf } from "../../api/api.ts";
import { tell } from "../../shell/deeds.ts";
import { refreshAll } from "../../api/live.ts";
import { PROVIDERS, providerOf } from "./providers.ts";
import { newSecret } from "../start/sample.ts";
import { Act } from "../../parts/act.tsx";
import { Choice, Field } from "../../parts/field.tsx";

interface SourceFormProps {
  /** Told of what was made, with the secret, which nobody can read again. */
  readonly onMade: (source: Source, secret: string) => void;
  readonly onCancel?: () => void;
}

interface Draft {
  readonly scheme: string;
  readonly name: string;
  readonly secret: string;
  readonly keyPointer: string;
}

const FIRST: Draft = { scheme: "stripe", name: "stripe", secret: "", keyPointer: "/data/object/customer" };

/** Which field a failure is of, and its words. */
export function faultOf(error: unknown): { readonly field: string; readonly message: string } {
  const problem = isPosthornError(error) ? problemOf(error) : undefined;
  return { field: problem?.field ?? "", message: problem?.detail ?? failureOf(error).detail };
}

type Fault = ReturnType<typeof faultOf>;

/** Adds a source: who sends, how it signs, and by what its events are in order. */
export function SourceForm({ onMade, onCancel }: SourceFormProps): JSX.Element {
  const [draft, setDraft] = useState(FIRST);
  const [fault, setFault] = useState<Fault | undefined>();
  const change = (part: Partial<Draft>): void => {
    setDraft({ ...draft, ...part });
    setFault(undefined);
  };
  const make = async (): Promise<void> => {
    try {
      const source = await api.sources.create(inputOf(draft));
      tell(`The source ${source.name} is there.`);
      onMade(source, draft.secret);
      void refreshAll();
    } catch (error) {
      setFault(faultOf(error));
    }
  };
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      <SourceFields draft={draft} change={change} fault={fault} />
      <div class="btns">
        <Act kind="primary" type="submit" because={missingIn(draft)} onAct={make}>
          Add source {draft.name}
        </Act>
        {onCancel !== undefined && (
          <Act kind="quiet" harmless onAct={onCancel}>
            Cancel
          </Act>
        )}
      </div>
    </form>
  );
}

function missingIn({ scheme, name, secret }: Draft): string | undefined {
  if (name === "") return "Give it a name.";
  return scheme !== "none" && secret === "" ? "Give it a secret, or make one to try it." : undefined;
}

interface FieldsProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
  readonly fault: Fault | undefined;
}

const PROVIDER_OPTIONS = PROVIDERS.map(({ scheme, title }) => [scheme, title] as const);

function SourceFields({ draft, change, fault }: FieldsProps): JSX.Element {
  const of = (field: string): string | undefined =>
    fault?.field.split(".")[0] === field ? fault.message : undefined;
  const elsewhere = fault !== undefined && !/^(name|secrets|key)\b/.test(fault.field);
  const pick = (scheme: string): void => {
    const own = draft.name === "" || draft.name === nameOf(draft.scheme);
    change({
      scheme,
      keyPointer: providerOf(scheme).keyPointer ?? "",
      name: own ? nameOf(scheme) : draft.name,
    });
  };
  const nameHint = (
    <>
      Its address will end in <code>/in/{draft.name || "…"}</code>
    </>
  );
  return (
    <>
      <div class="two">
        <Choice
          label="Who sends"
          value={draft.scheme}
          options={PROVIDER_OPTIONS}
          hint={<SchemeHint scheme={draft.scheme} />}
          onValue={pick}
        />
        <Field
          label="Name"
          value={draft.name}
          onValue={(name) => change({ name })}
          fault={of("name")}
          hint={nameHint}
        />
      </div>
      {draft.scheme !== "none" && <SecretField draft={draft} change={change} fault={of("secrets")} />}
      <Field
        label="In order by"
        mono
        placeholder="/data/object/customer"
        value={draft.keyPointer}
        onValue={(keyPointer) => change({ keyPointer })}
        fault={of("key")}
        hint="Where the customer stands in the JSON. Events of one key never overtake each other; leave it empty for no order."
      />
      {elsewhere && (
        <p class="bad small" role="alert">
          {fault.message}
        </p>
      )}
    </>
  );
}

interface SecretProps extends Pick<FieldsProps, "draft" | "change"> {
  readonly fault: string | undefined;
}

function SecretField({ draft, change, fault }: SecretProps): JSX.Element {
  return (
    <Field
      label="Secret"
      mono
      value={draft.secret}
      onValue={(secret) => change({ secret })}
      fault={fault}
      hint={providerOf(draft.scheme).secretHint ?? "by which it signs; never shown again"}
    >
      <Act harmless onAct={() => change({ secret: newSecret(draft.scheme) })}>
        Make one
      </Act>
    </Field>
  );
}

function SchemeHint({ scheme }: { readonly scheme: string }): JSX.Element {
  if (scheme === "none") return <span class="warn">Anybody who knows the address can send.</span>;
  if (scheme === "hmac") return <>By its options, which the CLI takes: posthorn source add --help</>;
  return <>Checked as this provider signs.</>;
}

function nameOf(scheme: string): string {
  return scheme === "none" || scheme === "hmac" ? "" : scheme.replaceAll("_", "-");
}

function inputOf({ scheme, name, secret, keyPointer }: Draft): SourceInput {
  return {
    name,
    scheme,
    ...(scheme === "none" ? { allowUnverified: true } : { secrets: [secret] }),
    ...(keyPointer.trim() !== "" && { key: { json: keyPointer.trim() } }),
  };
}
