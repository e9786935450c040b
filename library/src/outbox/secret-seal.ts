/**
 * Closes secrets before they are written to the database, and opens them when they are read. A store that is given none
 * keeps them as they are.
 */
export interface SecretSeal {
  seal(secret: string): string;
  /** Throws where the text was sealed under another key, or changed. */
  open(sealed: string): string;
}
