import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: "text" | "url" | "password" | "number";
  readonly placeholder?: string;
  readonly mono?: boolean;
  readonly required?: boolean;
  readonly auto?: string;
  /** What is wrong with it. */
  readonly fault?: string | undefined;
  readonly children?: ComponentChildren;
}

/** A text with its label, a hint, and what is wrong with it. */
export function Field(props: FieldProps): JSX.Element {
  const { label, hint, value, onValue, type = "text", mono = false, fault, children } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class={children === undefined ? "alone" : "joined"}>
        <input
          class={`input ${mono ? "mono" : ""}`}
          id={id}
          type={type}
          value={value}
          placeholder={props.placeholder ?? ""}
          required={props.required ?? false}
          autoComplete={props.auto ?? "off"}
          spellcheck={false}
          aria-invalid={fault !== undefined}
          aria-describedby={`${id}-hint`}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
        {children}
      </div>
      <span class="hint" id={`${id}-hint`}>
        {fault === undefined ? hint : <span class="bad">{fault}</span>}
      </span>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly hint?: ComponentChildren;
  readonly onValue: (value: string) => void;
}

export function Choice({ label, value, options, hint, onValue }: ChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select class="input" id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map(([option, words]) => (
          <option value={option} key={option}>
            {words}
          </option>
        ))}
      </select>
      {hint !== undefined && <span class="hint">{hint}</span>}
    </div>
  );
}

interface PickProps {
  readonly legend: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string, hint: string])[];
  readonly onValue: (value: string) => void;
}

/** One of a few, each with what follows from it. */
export function Pick({ legend, value, options, onValue }: PickProps): JSX.Element {
  const name = useId();
  return (
    <fieldset class="field plainset">
      <legend class="lab">{legend}</legend>
      <div class="pick">
        {options.map(([option, label, hint]) => (
          <label key={option}>
            <input type="radio" name={name} checked={value === option} onChange={() => onValue(option)} />
            {label}
            <span class="hint">{hint}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface TextAreaProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
}

/** A text of many lines, in fixed letters. */
export function TextArea({ label, value, onValue, hint }: TextAreaProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        class="input mono area"
        id={id}
        rows={14}
        value={value}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    </div>
  );
}
