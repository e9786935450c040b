import type {
  ALBEvent,
  ALBResult,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyResult,
  APIGatewayProxyStructuredResultV2,
  LambdaFunctionURLEvent,
} from "aws-lambda";
import { lambdaHandler } from "posthorn/lambda";
import type { LambdaEvent, LambdaResult } from "posthorn/lambda";
import { signedRequest } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import { NOT_UTF8, setStage, signed, SPACED } from "./stage.js";
import type { Post, Sent } from "./stage.js";

// Events as AWS documents them, with the fields that an adapter could take for something else.

type Shape = (sent: Sent, query?: string) => LambdaEvent;

const base64 = (body: Uint8Array): string => Buffer.from(body).toString("base64");

const v1: Shape = ({ path, headers, body }, query) => {
  const event: Partial<APIGatewayProxyEvent> & { version: string } = {
    version: "1.0",
    resource: "/webhooks/{source}",
    path,
    httpMethod: "POST",
    headers: { ...headers, Host: "api.example.com" },
    multiValueHeaders: Object.fromEntries(
      Object.entries({ ...headers, Host: "api.example.com" }).map(([name, value]) => [name, [value]]),
    ),
    queryStringParameters: query === undefined ? null : Object.fromEntries(new URLSearchParams(query)),
    multiValueQueryStringParameters: null,
    pathParameters: { source: path.split("/").at(-1) ?? "" },
    requestContext: {
      path: `/prod${path}`,
      stage: "prod",
      domainName: "api.example.com",
      httpMethod: "POST",
    } as APIGatewayProxyEvent["requestContext"],
    body: body.length === 0 ? null : base64(body),
    isBase64Encoded: body.length > 0,
  };
  return event as unknown as LambdaEvent;
};

const v2: Shape = ({ path, headers, body }, query) => {
  const event: Partial<APIGatewayProxyEventV2> = {
    version: "2.0",
    routeKey: "POST /webhooks/{source}",
    rawPath: path,
    rawQueryString: query ?? "",
    headers: { ...headers, host: "api.example.com" },
    pathParameters: { source: path.split("/").at(-1) ?? "" },
    requestContext: {
      domainName: "api.example.com",
      http: { method: "POST", path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "a" },
    } as APIGatewayProxyEventV2["requestContext"],
    isBase64Encoded: true,
  };
  return (body.length === 0 ? event : { ...event, body: base64(body) }) as LambdaEvent;
};

const functionUrl: Shape = (sent, query) => {
  const { pathParameters: _, ...event } = v2(sent, query) as unknown as LambdaFunctionURLEvent;
  return event as unknown as LambdaEvent;
};

const elb = { elb: { targetGroupArn: "arn:aws:elasticloadbalancing:targetgroup/hooks" } };

const alb: Shape = ({ path, headers, body }, query) => {
  const event: ALBEvent = {
    requestContext: elb,
    httpMethod: "POST",
    path,
    headers: { ...headers, host: "api.example.com" },
    queryStringParameters: Object.fromEntries(
      (query ?? "").split("&").map((pair) => pair.split("=", 2) as [string, string]),
    ),
    body: base64(body),
    isBase64Encoded: true,
  };
  return (query === undefined ? { ...event, queryStringParameters: {} } : event) as unknown as LambdaEvent;
};

const albMulti: Shape = (sent, query) => {
  const { headers = {}, queryStringParameters, ...event } = alb(sent, query) as unknown as ALBEvent;
  const many = (record: object): object =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, [value]]));
  return {
    ...event,
    multiValueHeaders: many(headers),
    multiValueQueryStringParameters: many(queryStringParameters ?? {}),
  } as LambdaEvent;
};

const shapes: readonly (readonly [string, Shape])[] = [
  ["API Gateway v1", v1],
  ["API Gateway v2", v2],
  ["a Function URL", functionUrl],
  ["a load balancer", alb],
  ["a load balancer with multi-value headers", albMulti],
];

function toResponse({ statusCode, headers, multiValueHeaders, body }: LambdaResult): Response {
  const single = Object.entries(multiValueHeaders ?? {}).map(
    ([name, [value = ""]]) => [name, value] as [string, string],
  );
  return new Response(statusCode === 204 ? null : body, {
    status: statusCode,
    headers: headers === undefined ? single : { ...headers },
  });
}

describe.each(shapes)("Lambda behind %s", (name, shape) => {
  promiseExactBytes(`Lambda behind ${name}`, (receiver) => {
    const handler = lambdaHandler(receiver);
    const post: Post = async (sent) => {
      const [path = "", query] = sent.path.split("?");
      return toResponse(await handler(shape({ ...sent, path }, query)));
    };
    return { post };
  });

  it("knows the URL that was asked for, as Twilio signs it", async () => {
    const stage = setStage();
    const path = "/webhooks/twilio";
    const asked = `https://api.example.com${shape === v1 ? "/prod" : ""}${path}?a=b%20c`;
    const { headers, body } = await signedRequest("twilio", { url: asked });
    const result = await lambdaHandler(stage.receiver, { source: "twilio" })(
      shape({ path, headers, body }, "a=b%20c"),
    );
    expect([result.statusCode, stage.signals.filter(({ kind }) => kind === "signature_refused")]).toEqual([
      200,
      [],
    ]);
  });
});

describe("a body that API Gateway handed over as text", () => {
  const asText = (sent: Sent): LambdaEvent => ({
    ...v1(sent),
    body: new TextDecoder("utf-8", { ignoreBOM: true }).decode(sent.body),
    isBase64Encoded: false,
  });

  it("is exact where it is UTF-8, also with replacement characters that were signed", async () => {
    const { receiver } = setStage();
    const handler = lambdaHandler(receiver);
    expect((await handler(asText(await signed(SPACED)))).statusCode).toBe(204);
    expect((await handler(asText(await signed('{"type":"a.b","was":"\ufffd"}')))).statusCode).toBe(204);
  });

  it("and is not UTF-8 is refused with body_text_only and the cure, instead of a bad signature", async () => {
    const { receiver, refusals, bodies } = setStage();
    const result = await lambdaHandler(receiver)(asText(await signed(NOT_UTF8)));
    expect(result.statusCode).toBe(500);
    expect(refusals).toMatchObject([
      { code: "body_text_only", why: expect.stringContaining("binaryMediaTypes") as string },
    ]);
    expect(bodies).toEqual([]);
  });

  it("and was changed on the way is refused as before", async () => {
    const { receiver, refusals } = setStage();
    const sent = await signed(SPACED);
    const result = await lambdaHandler(receiver)({ ...asText(sent), body: "{}" });
    expect([result.statusCode, refusals]).toEqual([401, []]);
  });
});

describe("an event", () => {
  it("whose body a JSON parser of middy replaced is refused with body_parsed, and used where its text was kept", async () => {
    const { receiver, refusals } = setStage();
    const sent = await signed(SPACED);
    const parsed = { ...v2(sent), body: JSON.parse(SPACED) as object, isBase64Encoded: false };
    expect((await lambdaHandler(receiver)(parsed)).statusCode).toBe(500);
    expect(refusals).toMatchObject([
      { code: "body_parsed", why: expect.stringContaining("middy") as string },
    ]);
    expect((await lambdaHandler(receiver)({ ...parsed, rawBody: SPACED })).statusCode).toBe(204);
  });

  it("that says base64 and is not is refused with body_not_base64", async () => {
    const { receiver, refusals } = setStage();
    const event = { ...v2(await signed(SPACED)), body: SPACED };
    expect((await lambdaHandler(receiver)(event)).statusCode).toBe(500);
    expect(refusals).toMatchObject([{ code: "body_not_base64" }]);
  });

  it("of a queue or a test of the console is refused with event_shape_unknown", async () => {
    const { receiver, refusals } = setStage();
    for (const event of [{ Records: [] }, { key1: "value1" }, null, "text"])
      expect((await lambdaHandler(receiver)(event as LambdaEvent)).statusCode).toBe(500);
    expect(refusals.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => "event_shape_unknown"));
  });

  it("by GET is answered 405", async () => {
    const { receiver } = setStage();
    const event = { ...v1(await signed(SPACED)), httpMethod: "GET" };
    expect(await lambdaHandler(receiver)(event)).toMatchObject({
      statusCode: 405,
      headers: { allow: "POST" },
    });
  });

  it("is answered once what waits for a timer is written: the process is frozen afterwards", async () => {
    const { receiver } = setStage();
    let flushed = 0;
    const counting = Object.assign(Object.create(receiver) as typeof receiver, {
      receive: () => Promise.resolve({ status: 204 }),
      maxBodyBytes: () => 1000,
      flush: () => Promise.resolve(void flushed++),
    });
    await lambdaHandler(counting)(v2(await signed(SPACED)));
    expect(flushed).toBe(1);
  });
});

it("results have the types of AWS", async () => {
  const { receiver } = setStage();
  const result = await lambdaHandler(receiver)(v2(await signed(SPACED)));
  const { multiValueHeaders: _, ...rest } = result;
  const one: APIGatewayProxyStructuredResultV2 = { ...rest, headers: { ...rest.headers } };
  const two: APIGatewayProxyResult = { ...rest, headers: { ...rest.headers } };
  const three: ALBResult = { ...rest, headers: { ...rest.headers } };
  expect([one.statusCode, two.statusCode, three.statusCode]).toEqual([204, 204, 204]);
});
