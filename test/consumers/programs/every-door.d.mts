// The lane writes every-door.mjs beside this file, into the temporary project.
export declare const doors: Readonly<Record<string, object>>;
