/**
 * `posthorn/lambda`: webhooks in AWS Lambda behind API Gateway v1 and v2, a Function URL or an Application Load Balancer.
 *
 * @module
 */
export { lambdaHandler } from "./frameworks/lambda.js";
export type { LambdaHandler, LambdaResult } from "./frameworks/lambda.js";
export type { LambdaEvent } from "./frameworks/lambda-event.js";
