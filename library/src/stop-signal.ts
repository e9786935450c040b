/**
 * The platform's `AbortSignal`; where a consumer compiles without any platform's types, the part of it that is
 * used here. Naming it directly would make our declarations fail to compile there.
 */
export type StopSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : {
      readonly aborted: boolean;
      addEventListener(type: "abort", listener: () => void): void;
      removeEventListener(type: "abort", listener: () => void): void;
    };
