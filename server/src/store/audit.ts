import type { AuditEntry } from "posthorn/client";

/** What is known before a change. */
export type AuditBegin = Omit<AuditEntry, "after" | "status">;

/** What is known after it. */
export interface AuditEnd {
  readonly subject: string | null;
  readonly after: AuditEntry["after"];
  readonly status: number;
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly kind?: string | undefined;
  readonly subject?: string | undefined;
  /** Ids from this text on. */
  readonly from?: string | undefined;
  /** Ids before this text; a page goes on before the last id of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Who changed what. */
export interface AuditRegistry {
  beginAudit(entry: AuditBegin): Promise<void>;
  endAudit(id: string, end: AuditEnd): Promise<void>;
  /** Newest first. At most one of actor, action, kind and subject: each has an index. */
  listAudit(query: AuditQuery): Promise<readonly AuditEntry[]>;
  /** Changes of any of these subjects, newest first. */
  auditOf(subjects: readonly string[], limit: number): Promise<readonly AuditEntry[]>;
}

/** What an operator noted about a group of dead letters. */
export interface DeadNoteRecord {
  readonly groupId: string;
  readonly text: string;
  readonly by: string;
  readonly at: Date;
}

export interface DeadNoteRegistry {
  writeNote(note: DeadNoteRecord): Promise<void>;
  removeNote(groupId: string): Promise<void>;
  readNotes(groupIds: readonly string[]): Promise<readonly DeadNoteRecord[]>;
}
