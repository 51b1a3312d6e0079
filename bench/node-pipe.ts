/**
 * The yardstick that issue trackers mean by "a bare proxy": node:http that only pipes, both ways.
 * Usage: `node bench/node-pipe.ts PORT UPSTREAM_PORT`.
 */
import { Agent, createServer, request } from 'node:http';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true });

createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const upstream = request({ agent, host: '127.0.0.1', port: upstreamPort, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  upstream.on('error', () => outgoing.destroy());
  incoming.pipe(upstream);
}).listen(port, '127.0.0.1');
