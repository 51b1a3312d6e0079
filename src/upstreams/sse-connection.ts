/**
 * One connection to a server of the HTTP+SSE transport (MCP 2024-11-05, basic/transports) as the peer of a
 * conversation: an event stream that begins with the address to post to. That address is refused when it
 * leads to another origin, because what is posted there carries a person's secrets.
 */
import { createParser } from 'eventsource-parser';
import type { Pool } from 'undici';
import { onOneLine } from './client-message.ts';
import { UpstreamFailure, type Peer, type PeerEvents } from './peer.ts';

const maxEventBytes = 32 * 1024 * 1024;

/**
 * @param pool connections to the origin of `url`
 * @param headers of every request: name, value, name, value …
 */
export function connectSse(pool: Pool, url: URL, headers: readonly string[], events: PeerEvents): Peer {
  const stop = new AbortController();
  let postTo: string | undefined;
  let waiting: string[] = [];
  let isOver = false;
  const over = (failure: UpstreamFailure): void => {
    if (isOver) return;
    isOver = true;
    stop.abort();
    events.ended(failure);
  };
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'endpoint') begin(data);
      else if (event === undefined || event === 'message') events.message(onOneLine(data));
    },
  });
  function begin(address: string): void {
    const target = URL.parse(address, url.href);
    if (postTo !== undefined) return;
    if (target === null || target.origin !== url.origin) {
      over(unusable('ENDPOINT_ELSEWHERE'));
      return;
    }
    postTo = target.pathname + target.search;
    for (const message of waiting) post(message, postTo);
    waiting = [];
  }
  function post(message: string, path: string): void {
    pool.request({ path, method: 'POST', headers: [...headers, 'content-type', 'application/json', 'accept', 'application/json'], body: message, signal: stop.signal }).then(
      async (answer) => {
        await answer.body.dump();
        if (answer.statusCode >= 300) over(unusable(`POST_${answer.statusCode}`));
      },
      (error: unknown) => { over(unreachable(error)); },
    );
  }
  async function listen(): Promise<void> {
    const answer = await pool.request({ path: url.pathname + url.search, method: 'GET', headers: [...headers, 'accept', 'text/event-stream'], signal: stop.signal, bodyTimeout: 0 });
    const type = String(answer.headers['content-type'] ?? '');
    if (answer.statusCode !== 200 || !/^text\/event-stream\b/i.test(type)) {
      answer.body.on('error', () => undefined).destroy();
      over(unusable(`GET_${answer.statusCode}`));
      return;
    }
    const decoder = new TextDecoder();
    let pending = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      // Within an event that never ends.
      pending = chunk.includes('\n\n') || chunk.includes('\r\n\r\n') ? 0 : pending + chunk.length;
      if (pending > maxEventBytes) {
        over(unusable('ENDLESS_EVENT'));
        return;
      }
      parser.feed(decoder.decode(chunk, { stream: true }));
    }
    over(new UpstreamFailure('unreachable', 'STREAM_ENDED', 'The server behind this proxy ended the connection.'));
  }
  listen().catch((error: unknown) => { over(unreachable(error)); });
  return {
    send(message) {
      if (isOver) return;
      if (postTo === undefined) waiting.push(message);
      else post(message, postTo);
    },
    close() {
      isOver = true;
      stop.abort();
      return Promise.resolve();
    },
  };
}

function unusable(code: string): UpstreamFailure {
  return new UpstreamFailure('unreachable', code, 'The server behind this proxy gave no usable answer.');
}

function unreachable(cause: unknown): UpstreamFailure {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'UNKNOWN';
  return new UpstreamFailure('unreachable', code, 'The server behind this proxy cannot be reached.', { cause });
}
