/** There is no credential for this call, so that nothing was sent. The message says what to do. */
export class NotConfigured extends Error {
  override readonly name = 'NotConfigured';
}

export const noLogin = (): NotConfigured =>
  new NotConfigured(
    'This needs an X account: run `toolkeel login x`, or set TOOLKEEL_X_ACCESS_TOKEN.',
  );

export const noCredential = (): NotConfigured =>
  new NotConfigured(
    'X is not configured: run `toolkeel login x`, or set TOOLKEEL_X_ACCESS_TOKEN or TOOLKEEL_X_BEARER_TOKEN.',
  );

export const otherLogin = (): NotConfigured =>
  new NotConfigured(
    'Nothing more was sent: another X account has logged in since this call was accepted. Call again if it is meant for that account.',
  );
