/** Why a person does something, and who it is: for whoever asks later. The operator's observer is told. */
export interface Reason {
  readonly because?: string | undefined;
  /** @default `by` of the operator */
  readonly by?: string | undefined;
}
