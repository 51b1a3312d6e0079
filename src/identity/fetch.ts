/** What the identity station needs of an HTTP client, as narrow as its libraries call it. The guarded outbound client is one. */
export type Fetch = (
  url: string,
  init?: { readonly method?: string | undefined; readonly headers?: unknown; readonly body?: unknown; readonly signal?: AbortSignal | undefined },
) => Promise<Response>;
