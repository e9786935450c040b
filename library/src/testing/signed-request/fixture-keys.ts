import type { ProviderName } from "./provider-name.js";

// PUBLIC TEST FIXTURES. Everybody has these keys: whoever configures one of them in production accepts anybody's
// requests. They were made once with openssl, for tests alone, and prove nothing.

/** What signs, and what its verifier is told: the same text where the secret does both. */
export interface TestSecret {
  readonly signing: string;
  readonly verifying: string;
}

/** The webhook id that `signedRequest("paypal")` signs unless told otherwise. */
export const TEST_WEBHOOK_ID = "8PT597110X687430LKGECATA";

const PAYPAL_KEY = `-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDF6fyRCYiRX+Yp
/vQiDfnITXmMSuA5GgOfjKHho97MLf6HF0r28ROBW/bvlGD6gxpYmV3lb5qSTNsE
l5RbgLbZZR3VtYfC6SwkZH63urAIXK5p7AIeHUFZkKvPBe2qnPl7INf2x7WS696f
NTS8XbhRntsTUJco/m8Byy6CFSIOGVCCuac8E3E28gKFLdE2sLhvTF+FXwYwo1Wf
dN95Yq+HKYyfpgP+pxdPpke4CdHuwsVLNhRwssoQfcM0x0JFbN98cof6WS4cuQBL
U2o2KJsDddgRHQ7iBA0EixUXLh6+leBI7N/k1K7RQdALg4T7Z8iz2bduUoMexUqs
6XYs1iT7AgMBAAECggEACshRMMuuq5DodsBDp7lQMvf5l8mahrHioaYlSahGYqRc
2hpMRMDkmacbgHj6gZtz64DLi0z1xGO4iPsDI6sTCywFoJeHwng2pfLtrm/W2FXI
UNABW4engEwv+BLwHFv6AZnL+k9uFoeQNOdOrLaEbLn1YIuC+MJH5PafXYnuNYtV
+FUK+EnxHHie2DG0Wk/uImzQVrBxVFjRPrnbTwMG+zySOpUDLftKADEaYydOPlEA
htMSHNvAvaVsVrfpFr2xVXYpUjAxmdGh9wJCZ5/TzkyN7Leem/PwGi9coDa+8BHV
bRjb79a2HHW/WpOgsihpXB2qssrwv0MIO85Ms/ROrQKBgQDr6hkO97OuBEVHIuqb
5UPFMPqGk0hElZIrCMrRUsQI6RGJepmudX9uLkpYMQO92KEyDWVbSzSth8xzTibm
vXKuKABdojYMd8vFiKxVJhUOfe4If3cIkQWryem4NWbYfOAyBhKyqUKW0IqJS1dK
UnCNgNg/FmllRIdeQUbrMNS5RQKBgQDWw6VE9yAHkZ97HoomlTJExnF7xecA7kNG
8TZd9fvlOja81U1PZ+zC8XT9GI7jCSwEwLrlPwbnxV+vLaBDiX+ng5aRa/8nYRVA
vK+DV/k0ZRjOJr4gu21LLEHfsNFD+b2ajIm6dv+LmsVFXXsdK+E371strBMqPes4
LoJr2VapPwKBgQDWihJ1wR9e3jVeRsuSMEGcPzllTuVGsbq2dg1zpM/vxnyTSLIf
rGzRdzlW0GQ1rp6RFQuapV7nfHqaVXUdGyYCaRBEFnMOjZb7MZp+6N33SuBATCKk
4LWGj12DjtTThWShOVKhtTmAS2/hAWoFhckjdgux+6CnXlW4iqaC1ept/QKBgE9W
Au2RJSHmp7WBuKM8Jk/FxxJkL0vmuK+yV9UqE53AfYwQd/jHeW0iaYc91TsFnl87
G0+oktJ31TsPbc7FMoUdVTfvX1iawpEhouywSP0UA6/UHBRXaK6GcOdDmGq2DVbU
Z+ScJRbbW9ieCebi2NYi89nRYVsPeJ9Ofxt8NEldAoGBAIaCgG2bvWwMkcVbZrom
e/3BM7zcNGYyMo+pjJdxigSbBXhDMYdut1HvSQpgK4HNx9bbPfTpWIeLGW5CjWS+
ACVXT9GiUYEqqEBeLy0CFWxUrwcfIchHMFdqlCeVo9DOhCQtSrnzZig0puHLLDd5
litCdTrzj5Tv3eMQPZ8b6P2E
-----END PRIVATE KEY-----`;

/** Self-signed, valid from 2000 to 2099, so that tests may turn their clocks. */
const PAYPAL_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIC+zCCAeMCFBmd1S25q3qK3CqrBc/GUUIGVPDmMA0GCSqGSIb3DQEBCwUAMDkx
NzA1BgNVBAMMLnBvc3Rob3JuIHB1YmxpYyB0ZXN0IGZpeHR1cmUsIHRydXN0IGl0
IG5vd2hlcmUwIBcNMDAwMTAxMDAwMDAwWhgPMjA5OTEyMzEyMzU5NTlaMDkxNzA1
BgNVBAMMLnBvc3Rob3JuIHB1YmxpYyB0ZXN0IGZpeHR1cmUsIHRydXN0IGl0IG5v
d2hlcmUwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDF6fyRCYiRX+Yp
/vQiDfnITXmMSuA5GgOfjKHho97MLf6HF0r28ROBW/bvlGD6gxpYmV3lb5qSTNsE
l5RbgLbZZR3VtYfC6SwkZH63urAIXK5p7AIeHUFZkKvPBe2qnPl7INf2x7WS696f
NTS8XbhRntsTUJco/m8Byy6CFSIOGVCCuac8E3E28gKFLdE2sLhvTF+FXwYwo1Wf
dN95Yq+HKYyfpgP+pxdPpke4CdHuwsVLNhRwssoQfcM0x0JFbN98cof6WS4cuQBL
U2o2KJsDddgRHQ7iBA0EixUXLh6+leBI7N/k1K7RQdALg4T7Z8iz2bduUoMexUqs
6XYs1iT7AgMBAAEwDQYJKoZIhvcNAQELBQADggEBAC0BNloqjstzP5god+lsAwhG
qT4f7mEXIeBbaKnBJnxVop9kTfR5BkBw5FTzRLRHesMVxosY35fuF1yLwUKeZ0p/
L+5wYSrSoTzh1WGRlZwsHEg3hKCTURYE7+fl6pCX2ZUUkiKL6ep6YAiUrG2Wy21j
UqPmegvK7/bee6WrWDzNJETIIuFBYodszriDWCQ46oOXSYi5es4iaSUFx+Ln+FTF
Av35YuxoATydAqWv7v1KNo6P5a88YiszQRvVvS4tUnhLLmMFkxDpCmd0QicfFECo
SyXFCUy3nvUWmGTzMFuT2wNOW54UzFvo9VzxaVxlOV6EVi1LWprqyLr2fmjW4s0=
-----END CERTIFICATE-----`;

const SENDGRID_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCrEyHwmTPI2/9Dio
/4LRMHjaBC0BkHy6x7bCBVja6qWhRANCAAQbrCbajzt8iSUW9DeWySm8LIB0JkzT
lQk33HQ9YZ7Wzh9k/Pa/MfZGGpuGxMs6mCi50Wdw1R4IzPbvzm80CWDA
-----END PRIVATE KEY-----`;

/** Secrets and keys that are known to everybody, by provider. For tests only. */
export const TEST_SECRETS: Readonly<Record<ProviderName, TestSecret>> = {
  adyen: both("706f7374686f726e207075626c69632074657374206669787475726520616479656e"),
  anthropic: both("whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="),
  asana: both("posthorn_public_test_fixture_asana"),
  auth0: both("posthorn_public_test_fixture_auth0"),
  bitbucket: both("posthorn_public_test_fixture_bitbucket"),
  cal_com: both("posthorn_public_test_fixture_cal_com"),
  calendly: both("posthorn_public_test_fixture_calendly"),
  chargebee: both("posthorn:public_test_fixture_chargebee"),
  circleci: both("posthorn_public_test_fixture_circleci"),
  clerk: both("whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="),
  discord: {
    signing: "7aeed0b00762b25bb7b93af97ff7947c38855ddcd8faf44b0d506f39c615e892",
    verifying: "16789a63a09cba35ac33ea4d0709561556eec552ca035db365ce7ee402c08a5a",
  },
  docusign: both("posthorn_public_test_fixture_docusign"),
  figma: both("posthorn_public_test_fixture_figma"),
  github: both("posthorn_public_test_fixture_github"),
  gitlab: both("posthorn_public_test_fixture_gitlab"),
  http_signature: {
    signing: "7aeed0b00762b25bb7b93af97ff7947c38855ddcd8faf44b0d506f39c615e892",
    verifying: "MCowBQYDK2VwAyEAFniaY6CcujWsM+pNBwlWFVbuxVLKA12zZc5+5ALAilo=",
  },
  hubspot: both("posthorn_public_test_fixture_hubspot"),
  intercom: both("posthorn_public_test_fixture_intercom"),
  lemon_squeezy: both("posthorn_public_test_fixture_lemon_squeezy"),
  linear: both("posthorn_public_test_fixture_linear"),
  mailgun: both("posthorn_public_test_fixture_mailgun"),
  notion: both("posthorn_public_test_fixture_notion"),
  openai: both("whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="),
  paddle: both("posthorn_public_test_fixture_paddle"),
  paypal: { signing: PAYPAL_KEY, verifying: PAYPAL_CERTIFICATE },
  polar: both("posthorn_public_test_fixture_polar"),
  postmark: both("posthorn:public_test_fixture_postmark"),
  replicate: both("whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="),
  resend: both("whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="),
  sendgrid: {
    signing: SENDGRID_KEY,
    verifying:
      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEG6wm2o87fIklFvQ3lskpvCyAdCZM05UJN9x0PWGe1s4fZPz2vzH2RhqbhsTLOpgoudFncNUeCMz2785vNAlgwA==",
  },
  sentry: both("posthorn_public_test_fixture_sentry"),
  shopify: both("posthorn_public_test_fixture_shopify"),
  slack: both("posthorn_public_test_fixture_slack"),
  square: both("posthorn_public_test_fixture_square"),
  standard_webhooks: both("whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="),
  stripe: both("whsec_posthorn_public_test_fixture"),
  supabase: both("v1,whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="),
  twilio: both("posthorn_public_test_fixture_twilio"),
  typeform: both("posthorn_public_test_fixture_typeform"),
  vercel: both("posthorn_public_test_fixture_vercel"),
  webflow: both("posthorn_public_test_fixture_webflow"),
  woocommerce: both("posthorn_public_test_fixture_woocommerce"),
  workos: both("posthorn_public_test_fixture_workos"),
  zoom: both("posthorn_public_test_fixture_zoom"),
};

function both(secret: string): TestSecret {
  return { signing: secret, verifying: secret };
}
