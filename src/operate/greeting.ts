/** What `serve` says to a person at a terminal, once it listens: what to type into a client, and where to look. */
import type { Config } from '../config/config.ts';
import { reportOn } from './check.ts';

export function greeting(config: Config): string {
  const { listen, publicUrl, pagesPath } = config.server;
  const { upstreams } = reportOn(config);
  const account = `${(publicUrl.origin + publicUrl.pathname).replace(/\/$/, '')}${pagesPath.replace(/\/$/, '')}/account`;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const lines = [
    `Elicitgate listens on ${host}:${String(listen.port)}. Ctrl-C ends it.`,
    ...upstreams.map(({ name, at, alsoAt }) => `For your MCP client, ${name}: ${alsoAt ?? at}`),
    `What people have connected: ${account}`,
  ];
  return `${lines.join('\n')}\n`;
}
