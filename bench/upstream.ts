/**
 * The bench's upstream, in its own process: the smallest stateful MCP server that is one, on raw sockets,
 * so that it takes little of the machine from what is measured. Usage: `node bench/upstream.ts PORT`.
 *
 * Tools: `free` and `paid` answer with a text as long as their argument `bytes` says (default 16);
 * `show` answers with the value of the header `X-Key`. GET opens a stream that stays silent.
 * Requests must carry a Content-Length.
 */
import { createServer, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const stream = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const answers = new Map<number, string>();

createServer((socket) => {
  let pending: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (;;) {
      const bodyStart = pending.indexOf(headEnd) + headEnd.length;
      if (bodyStart < headEnd.length) return;
      const head = pending.toString('latin1', 0, bodyStart);
      const bodyEnd = bodyStart + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (pending.length < bodyEnd) return;
      serve(socket, head, pending.toString('latin1', bodyStart, bodyEnd));
      pending = pending.subarray(bodyEnd);
    }
  });
}).listen(Number(process.argv[2]), '127.0.0.1');

function serve(socket: Socket, head: string, body: string): void {
  if (head.startsWith('GET ')) {
    socket.write(stream);
    return;
  }
  if (!head.startsWith('POST ')) {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    return;
  }
  const id = /"id":("[^"]*"|\d+)/.exec(body)?.[1];
  if (id === undefined) {
    socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n');
  } else if (body.includes('"method":"initialize"')) {
    const result = '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}';
    send(socket, id, result, 'mcp-session-id: upstream-session\r\n');
  } else if (body.includes('"name":"show"')) {
    send(socket, id, textResult(/\r\nx-key: *([^\r]*)/i.exec(head)?.[1] ?? 'none'));
  } else {
    send(socket, id, sizedAnswer(Number(/"bytes":(\d+)/.exec(body)?.[1] ?? 16)));
  }
}

function send(socket: Socket, id: string, result: string, headers = ''): void {
  const body = `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  socket.write(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );
}

function sizedAnswer(bytes: number): string {
  let answer = answers.get(bytes);
  if (answer === undefined) {
    answer = textResult('The quick brown fox jumps. '.repeat(Math.ceil(bytes / 27)).slice(0, bytes));
    answers.set(bytes, answer);
  }
  return answer;
}

function textResult(value: string): string {
  return `{"content":[{"type":"text","text":"${value}"}]}`;
}
