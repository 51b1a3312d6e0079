/**
 * The whole life of an MCP request, as lists of named steps that are read from top to bottom. A step that
 * answers ends its list.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError } from '../operate/log.ts';
import { checkMedia, classify, classifyBare, identify, isAddressed, limitCalls, parse, readHeaders } from './admit.ts';
import { refuseBare, sendAnswer } from './answer.ts';
import { Call, type Step } from './call.ts';
import { elicit } from './elicit.ts';
import { endSession } from './end-session.ts';
import { forward } from './forward.ts';
import type { Gateway } from './gateway.ts';
import { decide, lookUp, match, openSession } from './look-up.ts';
import type { ProtectedUpstream } from './protected-upstream.ts';
import { openServerStream } from './server-stream.ts';

function postSteps(gateway: Gateway): readonly Step[] {
  return [
    isAddressed(gateway),
    identify(gateway),
    checkMedia,
    parse,
    readHeaders,
    limitCalls(gateway),
    classify,
    openSession(gateway),
    match,
    lookUp(gateway),
    decide(gateway),
    elicit(gateway),
    forward(gateway),
  ];
}

function getSteps(gateway: Gateway): readonly Step[] {
  return [isAddressed(gateway), identify(gateway), readHeaders, classifyBare, openSession(gateway), lookUp(gateway), openServerStream(gateway)];
}

function deleteSteps(gateway: Gateway): readonly Step[] {
  return [isAddressed(gateway), identify(gateway), readHeaders, classifyBare, openSession(gateway), lookUp(gateway), endSession(gateway)];
}

const methods = 'POST, GET, DELETE, OPTIONS';
const optionsAnswer = { status: 204, headers: { allow: methods, 'access-control-allow-methods': methods, 'access-control-max-age': '600' } } as const;

/**
 * @param paths where each upstream answers; a single upstream has a second, short path
 * @param maxBodyBytes of one message
 */
export function registerGateway(server: FastifyInstance, gateway: Gateway, paths: ReadonlyMap<string, ProtectedUpstream>, maxBodyBytes: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) => {
    done(null, body);
  });
  server.setErrorHandler((error: FastifyError, request, reply) => {
    answerError(gateway, error, request, reply);
  });
  const steps = { POST: postSteps(gateway), GET: getSteps(gateway), DELETE: deleteSteps(gateway), OPTIONS: [isAddressed(gateway), () => optionsAnswer] };
  for (const [path, upstream] of paths) {
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS'] as const) {
      server.route({ method, url: path, bodyLimit: maxBodyBytes, exposeHeadRoute: false, handler: handlerOf(gateway, upstream, steps[method]) });
    }
  }
}

function handlerOf(gateway: Gateway, upstream: ProtectedUpstream, steps: readonly Step[]) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack();
    const call = new Call(request, reply.raw, upstream);
    try {
      for (const step of steps) {
        const outcome = step(call);
        // Most steps are done at once; waiting for those would cost each call a turn of the event loop.
        const result = outcome instanceof Promise ? await outcome : outcome;
        if (result === 'taken') return;
        if (result !== undefined) {
          sendAnswer(call.reply, result);
          return;
        }
      }
    } catch (error) {
      gateway.log.error({ upstream: upstream.config.name, reason: describeError(error) }, 'a call failed inside the proxy');
      sendAnswer(call.reply, call.refuse('unavailable'));
    }
  };
}

function answerError(gateway: Gateway, error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  const reason = error.statusCode === 413 ? 'too-large' : error.statusCode === 415 ? 'unsupported-media' : 'not-json';
  if (error.statusCode === undefined || error.statusCode >= 500) gateway.log.error({ reason: describeError(error) }, 'a call failed inside the proxy');
  const answer = refuseBare(reason);
  // The rest of the body is not read; the connection cannot serve another request.
  sendAnswer(reply.raw, { ...answer, headers: { connection: 'close' } });
  request.raw.resume();
}
