/**
 * Token answers as third parties send them, made into what RFC 6749 §5 describes before anything is checked:
 * form-encoded instead of JSON, an error under status 200, no or another token type, `expires_in` as a text.
 * A server that fails for the moment is told apart from one that refuses.
 */
import type { Fetch } from '../../identity/fetch.ts';

/** The third party could not be reached, or said that it cannot answer now. */
export class ProviderDown extends Error {
  override readonly name = 'ProviderDown';
}

/** Whether an error, or what caused it, means that the third party did not answer: neither yes nor no. */
export function isDown(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderDown) return true;
  }
  return false;
}

/** @param tokenEndpoint answers of any other address stay as they are */
export function readingTokenAnswers(fetch: Fetch, tokenEndpoint: string): Fetch {
  return async (url, init) => {
    const { status, text, contentType } = await ask(fetch, url, init);
    if (new URL(url).href !== new URL(tokenEndpoint).href) return new Response(isBodiless(status) ? null : text, { status, headers: { 'content-type': contentType } });
    const body = parse(text, contentType);
    if (body === undefined) return new Response(isBodiless(status) ? null : text, { status, headers: { 'content-type': contentType } });
    const isRefusal = status === 200 && typeof body['access_token'] !== 'string' && typeof body['error'] === 'string';
    return Response.json(isRefusal ? body : mended(body), { status: isRefusal ? 400 : status === 201 ? 200 : status });
  };
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

async function ask(fetch: Fetch, url: string, init: Parameters<Fetch>[1]) {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(url, init);
    text = await answer.text();
  } catch (cause) {
    throw new ProviderDown('the third party cannot be reached', { cause });
  }
  if (answer.status >= 500 || answer.status === 429) throw new ProviderDown(`the third party answered ${answer.status}`);
  return { status: answer.status, text, contentType: answer.headers.get('content-type') ?? '' };
}

type Body = Readonly<Record<string, unknown>>;

function parse(text: string, contentType: string): Body | undefined {
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text) as Body;
    } catch {
      return undefined;
    }
  }
  const isForm = /^(?:application\/x-www-form-urlencoded|text\/plain)/i.test(contentType) && /^[\w-]+=/.test(text);
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined;
}

function mended(body: Body): Body {
  if (typeof body['access_token'] !== 'string') return body;
  const { expires_in: expiresIn, refresh_token: refreshToken, id_token: idToken, scope, ...rest } = body;
  const seconds = Number(expiresIn);
  return {
    ...rest,
    // Every token is put where the file says; how a server names its type changes nothing about that.
    token_type: 'Bearer',
    ...(typeof expiresIn === 'boolean' || expiresIn === null || !(seconds > 0) ? {} : { expires_in: seconds }),
    ...(typeof refreshToken === 'string' && refreshToken !== '' ? { refresh_token: refreshToken } : {}),
    ...(typeof idToken === 'string' && idToken !== '' ? { id_token: idToken } : {}),
    ...(Array.isArray(scope) ? { scope: scope.join(' ') } : typeof scope === 'string' ? { scope } : {}),
  };
}
