// Two copies of the package in one process: `instanceof` lies then, and isPosthornError must not.
import * as theirs from "dependency";
import * as ours from "posthorn/verify";

/** @param {() => void} action @returns {unknown} */
function caught(action) {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

const error = caught(theirs.fail);
const found = {
  separate: ours.PosthornError !== theirs.PosthornError,
  instance: error instanceof ours.PosthornError,
  recognised: ours.isPosthornError(error) && error.code,
  recognisedByThem: theirs.isPosthornError(caught(() => ours.standardWebhooks({ secrets: "" }))),
  stranger: ours.isPosthornError(new Error("of somebody else")),
};
console.log(`posthorn-consumer ${JSON.stringify(found)}`);
