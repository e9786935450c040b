/** Where a repair remembers how far it has read. Each sentence is a case of the conformance kit, in the same words. */
export interface CursorStore {
  /** Reads the cursor that was written last under a name; undefined where none was. */
  readCursor(name: string): Promise<string | undefined>;
  /** Writes a cursor. The last write wins, and it is committed when the promise resolves. */
  writeCursor(name: string, cursor: string): Promise<void>;
}
