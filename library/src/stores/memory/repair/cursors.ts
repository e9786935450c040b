import type { CursorStore } from "../../../repair/cursor-store.js";

/** Cursors, until the process ends. */
export function createCursors(): CursorStore {
  const cursors = new Map<string, string>();
  return {
    readCursor: (name) => Promise.resolve(cursors.get(name)),
    writeCursor(name, cursor) {
      cursors.set(name, cursor);
      return Promise.resolve();
    },
  };
}
