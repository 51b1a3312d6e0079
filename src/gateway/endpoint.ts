/**
 * Where an upstream answers, and what that address is called in OAuth: the resource identifier of RFC 8707
 * and the place of its metadata (RFC 9728 §3.1, which puts the well-known part between host and path).
 * All of it comes from the public URL, never from what a request says.
 */
import type { ProtectedUpstream } from './protected-upstream.ts';

export interface Endpoint {
  /** The path as this server sees it. */
  readonly path: string;
  readonly upstream: ProtectedUpstream;
  /** The address that clients type. */
  readonly resource: string;
  /** What a token for it names as its audience, one of them: as the file says, or else every address of the upstream. */
  readonly audiences: readonly string[];
  readonly metadataUrl: string;
  readonly metadataPath: string;
}

const wellKnown = '/.well-known/oauth-protected-resource';

/**
 * @param publicUrl may have a path; whether or not a proxy in front takes it away, the same endpoints answer
 * @param audience of tokens for upstreams that name none themselves
 * @returns one endpoint for each path; a single upstream answers at `/mcp` too
 */
export function endpointsOf(publicUrl: URL, upstreams: readonly ProtectedUpstream[], audience?: readonly string[]): readonly Endpoint[] {
  const base = withoutSlash(publicUrl.pathname);
  return upstreams.flatMap((upstream) => {
    const own = withoutSlash(upstream.config.path);
    const paths = [...new Set(upstreams.length === 1 ? [own, '/mcp'] : [own])];
    const audiences = upstream.config.audience ?? audience ?? paths.map((path) => publicUrl.origin + base + path);
    return paths.flatMap((path) => {
      const resource = publicUrl.origin + base + path;
      return [...new Set(['', base])].map((prefix): Endpoint => ({
        path: prefix + path,
        upstream,
        resource,
        audiences,
        metadataUrl: publicUrl.origin + wellKnown + base + path,
        metadataPath: wellKnown + prefix + path,
      }));
    });
  });
}

export function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
