import { ATTEMPT, DELIVERY } from "./delivery.js";
import { CREATED_ENDPOINT, ENDPOINT, ENDPOINT_INPUT, ENDPOINT_UPDATE, TEST_SEND } from "./endpoint.js";
import { EVENT_DETAIL, EVENT_INPUT, EVENT_SUMMARY, PUBLISHED_EVENT } from "./event.js";
import { DEAD_LETTER, LANE } from "./lane.js";
import { PROBLEM } from "./problem.js";
import { REJECTED_REQUEST } from "./rejected-request.js";
import { SESSION, SESSION_INPUT } from "./session.js";
import { SOURCE, SOURCE_INPUT, SOURCE_UPDATE } from "./source.js";
import { CREATED_TOKEN, TOKEN, TOKEN_INPUT } from "./token.js";

/** Every schema that routes refer to by its name. */
export const RESOURCES: readonly object[] = [
  SOURCE_INPUT,
  SOURCE_UPDATE,
  SOURCE,
  ENDPOINT_INPUT,
  ENDPOINT_UPDATE,
  ENDPOINT,
  CREATED_ENDPOINT,
  TEST_SEND,
  EVENT_INPUT,
  PUBLISHED_EVENT,
  DELIVERY,
  ATTEMPT,
  EVENT_SUMMARY,
  EVENT_DETAIL,
  LANE,
  DEAD_LETTER,
  REJECTED_REQUEST,
  TOKEN_INPUT,
  TOKEN,
  CREATED_TOKEN,
  SESSION_INPUT,
  SESSION,
  PROBLEM,
];
