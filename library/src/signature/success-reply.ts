import type { Reply, Scheme, Verified } from "./scheme.js";

/** The reply to a verified request whose events were accepted. */
export function successReply(verified: Verified): Reply {
  const { scheme } = verified.verifier;
  return scheme.successFor?.(verified) ?? scheme.replies.success;
}

/** The scheme with the success reply that this request expects, for whoever answers by a verdict. */
export function schemeAnswering(verified: Verified): Scheme {
  const { scheme } = verified.verifier;
  if (scheme.successFor === undefined) return scheme;
  return { ...scheme, replies: { ...scheme.replies, success: successReply(verified) } };
}
