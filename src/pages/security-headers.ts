/** Nothing on these pages comes from elsewhere, runs, is framed, is kept, or tells the next page where it was. */

const policy = (formAction: string): string => `default-src 'none'; style-src 'self'; img-src 'self' data:; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`;

export const securityHeaders = {
  'content-security-policy': policy("'self'"),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/**
 * For a page whose form leads to a third party. Browsers hold the whole way against this list, and a third
 * party may send people on to the sign-in of their own organisation, which nobody knows beforehand.
 */
export function formActions(origin: string): Readonly<Record<string, string>> {
  return { 'content-security-policy': policy(`'self' ${origin} https:`) };
}
