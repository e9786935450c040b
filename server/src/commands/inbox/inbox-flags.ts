/** Which rows are meant, as flags. */
export const INBOX_FLAGS = [
  { form: "--source <name>", says: "From this source." },
  { form: "--consumer <id>", says: "At this consumer, by its id or its name." },
  { form: "--type <type>", says: "Of this type." },
  { form: "--tenant <name>", says: "Of this tenant." },
  { form: "--since <time>", says: "First received since: ISO 8601, or an age such as 24h." },
  { form: "--until <time>", says: "First received before." },
] as const;
