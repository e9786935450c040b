/** Why a request never reached the signature check, or could not pass it in this framework. Printed into docs/errors.md. */
export const FRAMEWORK_ERRORS = {
  body_consumed: "Something read the body before Posthorn did, and its bytes are gone.",
  body_parsed: "A parser or validator of the framework read the body, and only the parsed value is left.",
  body_text_only:
    "Only a text copy of the body is left, and it has replacement characters: bytes that are not UTF-8 were lost on the way.",
  body_truncated:
    "Fewer bytes arrived than `content-length` announced: something on the way cut the body off.",
  body_limited: "A parser of the framework refused the body by its own size limit, before Posthorn's.",
  body_broken: "The connection broke before the body was complete.",
  body_not_base64: "The platform says that the body is base64, and it is not.",
  event_shape_unknown: "The value is no HTTP event of AWS Lambda in a form that is known.",
  source_unnamed:
    "A webhook came to a route or mount path of Express at which no request can name its source, and Express answered 404.",
  host_failed:
    "Code of the host failed while the request was read: its function for the source, for instance.",
  plugin_not_encapsulated:
    "The Fastify plug-in was registered without its own context, so that its body parser would replace the host's.",
  handler_not_static:
    "A provider or controller with `@OnWebhook` is request-scoped or transient, and an event finds no instance of it.",
} as const;

export type FrameworkErrorCode = keyof typeof FRAMEWORK_ERRORS;
