import { PosthornError } from "posthorn";
import type { SecretSeal } from "posthorn";

/** For commands that neither read nor write a secret, and are therefore not given the key. */
export const NO_SEAL: SecretSeal = {
  seal: () => {
    throw noKey();
  },
  open: () => {
    throw noKey();
  },
};

function noKey(): PosthornError {
  return new PosthornError("seal_no_key", "A secret was to be used by a command that has no master key.");
}
