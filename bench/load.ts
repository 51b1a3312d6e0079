/**
 * The load generator, in its own process and on raw sockets, so that it is not what is measured. It is
 * told over IPC what to do: `open` connects and makes one call on each connection, `run` keeps one call
 * under way on every connection for a while, `shut` disconnects. Every answer must be a 200 with a result.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tool: string;
  /** Length of the text in each answer. */
  readonly bytes: number;
}

export type Order =
  | { readonly do: 'open'; readonly target: Target; readonly connections: number }
  | { readonly do: 'run'; readonly ms: number }
  | { readonly do: 'shut' };

export interface Slice {
  readonly calls: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

type Call = () => Promise<unknown>;

let sockets: Socket[] = [];
let calls: Call[] = [];
let lastId = 1_000_000_000; // always ten digits, so that every request is as long as the others

process.on('message', (order: Order) => void obey(order).then((answer) => process.send?.(answer)));

async function obey(order: Order): Promise<object> {
  switch (order.do) {
    case 'open':
      sockets = await Promise.all(Array.from({ length: order.connections }, () => open(order.target.port)));
      calls = sockets.map((socket) => caller(socket, order.target));
      await Promise.all(calls.map((call) => call()));
      return {};
    case 'run':
      return run(order.ms);
    case 'shut':
      for (const socket of sockets) socket.destroy();
      return {};
  }
}

async function run(ms: number): Promise<Slice> {
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + ms;
  const loop = async (call: Call) => {
    for (let before = performance.now(); before < end; ) {
      await call();
      const after = performance.now();
      latencies.push(after - before);
      before = after;
    }
  };
  await Promise.all(calls.map(loop));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(share * (latencies.length - 1))] ?? 0;
  return { calls: latencies.length, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

function caller(socket: Socket, target: Target): Call {
  const before = `{"jsonrpc":"2.0","id":`;
  const after = `,"method":"tools/call","params":{"name":"${target.tool}","arguments":{"bytes":${target.bytes}}}}`;
  const headers = {
    host: `127.0.0.1:${target.port}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...target.headers,
    'content-length': String(before.length + 10 + after.length),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${target.path} HTTP/1.1\r\n${lines.join('')}\r\n`;

  let answered: PromiseWithResolvers<undefined> | undefined;
  let answer = newAnswer();
  socket.on('data', (chunk) => {
    if (!answer.add(chunk)) return;
    answer = newAnswer();
    answered?.resolve(undefined);
  });
  socket.on('error', (error) => answered?.reject(error));
  socket.on('end', () => answered?.reject(new Error('the connection was closed in mid-run')));
  return () => {
    answered = Promise.withResolvers();
    socket.write(`${head}${before}${(lastId += 1)}${after}`, 'latin1');
    return answered.promise;
  };
}

/** Follows one answer; `add` is true once it is whole. */
function newAnswer(): { readonly add: (chunk: Buffer) => boolean } {
  let head = '';
  let missing = -1; // bytes still to come, or Infinity for a chunked answer
  let tail = '';
  const begin = (chunk: Buffer): number => {
    head += chunk.toString('latin1', 0, 2048);
    const bodyStart = head.indexOf('\r\n\r\n') + 4;
    if (bodyStart < 4 || head.length < bodyStart + 40) return 0;
    if (!head.startsWith('HTTP/1.1 200') || !head.includes('"result"')) throw new Error(`not a result: ${head}`);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    missing = length === undefined ? Infinity : Number(length);
    return bodyStart;
  };
  return {
    add: (chunk) => {
      let body = chunk.length;
      if (missing < 0) {
        const earlier = head.length;
        const bodyStart = begin(chunk);
        if (missing < 0) return false;
        body = earlier + chunk.length - bodyStart;
      }
      if (missing === Infinity) {
        tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5);
        return tail === '0\r\n\r\n';
      }
      missing -= body;
      return missing <= 0;
    },
  };
}
