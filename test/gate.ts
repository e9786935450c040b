/** Something that handlers wait for until the test lets them go on. */
export function createGate(): { readonly passed: Promise<void>; readonly open: () => void } {
  const gate = new AbortController();
  const passed = new Promise<void>((resolve) => gate.signal.addEventListener("abort", () => resolve()));
  return { passed, open: () => gate.abort() };
}
