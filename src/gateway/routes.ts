/**
 * The whole life of an MCP request, as lists of named steps that are read from top to bottom. A step that
 * answers ends its list.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError } from '../operate/log.ts';
import { checkMedia, identify, isAddressed, limitCalls, parse, readHeaders, takeBody } from './admit.ts';
import { answerFromCatalogue } from './answer-from-catalogue.ts';
import { refuseBare, sendAnswer } from './answer.ts';
import { Call, type Step, type StepResult } from './call.ts';
import { classify, classifyBare } from './classify.ts';
import { elicit } from './elicit.ts';
import { endSession } from './end-session.ts';
import type { Endpoint } from './endpoint.ts';
import { freshen } from './freshen.ts';
import { forward } from './forward.ts';
import type { Gateway } from './gateway.ts';
import { decide, lookUp, match, openSession } from './look-up.ts';
import { rebind } from './rebind.ts';
import { recordUse } from './record-use.ts';
import { ownTask } from './own-tasks.ts';
import { inTurn } from './pipelined.ts';
import { openRound } from './open-round.ts';
import { takeReply } from './take-reply.ts';
import { openServerStream } from './server-stream.ts';

function postSteps(gateway: Gateway, maxBodyBytes: number, bind: Step): readonly Step[] {
  return [
    isAddressed(gateway),
    identify(gateway),
    checkMedia,
    takeBody(maxBodyBytes),
    parse,
    readHeaders,
    limitCalls(gateway),
    classify(gateway),
    openSession(gateway),
    takeReply(gateway),
    match,
    openRound(gateway),
    ownTask(gateway),
    lookUp(gateway),
    freshen(gateway),
    decide(gateway),
    elicit(gateway),
    recordUse(gateway),
    bind,
    answerFromCatalogue(gateway),
    forward(gateway),
  ];
}

/** GET and DELETE, which have no message. */
function bareSteps(gateway: Gateway, bind: Step, last: Step): readonly Step[] {
  return [isAddressed(gateway), identify(gateway), readHeaders, classifyBare, openSession(gateway), lookUp(gateway), freshen(gateway), recordUse(gateway), bind, last];
}

const methods = 'POST, GET, DELETE, OPTIONS';
const optionsAnswer = { status: 204, headers: { allow: methods, 'access-control-allow-methods': methods, 'access-control-max-age': '600' } } as const;

/**
 * @param maxBodyBytes of one message
 */
export function registerGateway(server: FastifyInstance, gateway: Gateway, endpoints: readonly Endpoint[], maxBodyBytes: number): void {
  server.removeAllContentTypeParsers();
  // A body is read by a step of ours: not before it is known who sends it.
  server.addContentTypeParser('*', (_request, _payload, done) => { done(null); });
  server.setErrorHandler((error: FastifyError, request, reply) => {
    answerError(gateway, error, request, reply);
  });
  // One for all methods: it knows what is under way in a session, whatever came by which.
  const bind = rebind(gateway);
  const steps = { POST: postSteps(gateway, maxBodyBytes, bind), GET: bareSteps(gateway, bind, openServerStream(gateway)), DELETE: bareSteps(gateway, bind, endSession(gateway)), OPTIONS: [isAddressed(gateway), () => optionsAnswer] };
  for (const endpoint of endpoints) {
    for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS'] as const) {
      server.route({ method, url: endpoint.path, bodyLimit: maxBodyBytes, exposeHeadRoute: false, handler: handlerOf(gateway, endpoint, steps[method]) });
    }
  }
}

function handlerOf(gateway: Gateway, endpoint: Endpoint, steps: readonly Step[]) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    inTurn(request.raw, reply.raw, () => { walk(gateway, new Call(request, reply.raw, endpoint), steps, 0); });
  };
}

/** Takes one step after the other. A step that is done at once costs no turn of the event loop, and most are. */
function walk(gateway: Gateway, call: Call, steps: readonly Step[], from: number): void {
  const failed = (error: unknown): void => {
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a call failed inside the proxy');
    call.send(call.refuse('unavailable'));
  };
  try {
    for (let at = from; at < steps.length; at += 1) {
      const outcome = steps[at]?.(call);
      if (outcome instanceof Promise) {
        outcome.then((result) => { if (!isSettled(call, result)) walk(gateway, call, steps, at + 1); }).catch(failed);
        return;
      }
      if (isSettled(call, outcome)) return;
    }
  } catch (error) {
    failed(error);
  }
}

function isSettled(call: Call, result: StepResult): boolean {
  if (result === undefined) return false;
  if (result !== 'taken') call.send(result);
  return true;
}

function answerError(gateway: Gateway, error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  const reason = error.statusCode === 413 ? 'too-large' : error.statusCode === 415 ? 'unsupported-media' : 'not-json';
  if (error.statusCode === undefined || error.statusCode >= 500) gateway.log.error({ reason: describeError(error) }, 'a call failed inside the proxy');
  sendAnswer(reply.raw, refuseBare(reason));
  // What is still on its way is thrown away: a client whose connection is cut while it sends never reads why.
  request.raw.resume();
}
