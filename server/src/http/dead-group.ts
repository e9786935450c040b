import type { DeadGroup, DeadNote } from "posthorn/client";
import type { DeadGroup as GroupRecord } from "posthorn/operator";
import type { DeadNoteRecord } from "../store/audit.js";

/** The name of a group: its parts, each written for a URL, so that a dot divides them and nothing else. */
export function groupIdOf({ endpointId, because, status, error }: GroupRecord): string {
  return [endpointId, because, status ?? "none", error ?? "none"]
    .map((part) => encodeURIComponent(part).replaceAll(".", "%2E"))
    .join(".");
}

export function showGroup(group: GroupRecord, note: DeadNoteRecord | undefined): DeadGroup {
  return {
    id: groupIdOf(group),
    tenant: group.tenant,
    endpointId: group.endpointId,
    because: group.because,
    status: group.status ?? null,
    error: group.error ?? null,
    count: group.count,
    firstAt: group.firstAt.toISOString(),
    lastAt: group.lastAt.toISOString(),
    note: showNote(note),
  };
}

export function showNote(note: DeadNoteRecord | undefined): DeadNote | null {
  return note === undefined ? null : { text: note.text, by: note.by, at: note.at.toISOString() };
}
