import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGlobs } from '../../src/config/globs.ts';
import { choose, decide, type Reach } from '../../src/gateway/decide.ts';
import { matchRules } from '../../src/gateway/match.ts';
import { questionName, questionPlace, type RequiredCredential, type Requirement, type CallRule } from '../../src/gateway/protected-upstream.ts';
import { targetsOf } from '../../src/gateway/requested.ts';
import type { RpcMessage } from '../../src/protocol/json-rpc.ts';
import type { Secret } from '../../src/vault/secrets.ts';

const named = (name: string, place?: string): RequiredCredential => ({ config: { name }, place }) as RequiredCredential;
const any = (...anyOf: readonly RequiredCredential[]): Requirement => ({ anyOf });
const [githubKey, jiraKey, packKey] = [named('github', 'main'), named('jira', 'main'), named('pack')];
const [github, jira] = [any(githubKey), any(jiraKey)];

function rule(tools: readonly string[], ...requires: readonly Requirement[]): CallRule {
  const globs = parseGlobs(tools);
  assert.ok(globs.ok);
  return { names: ({ kind, name }) => kind === 'tool' && globs.value.matches(name), applies: () => true, requires };
}

const request = (method: string, params: Readonly<Record<string, unknown>>): RpcMessage => ({ kind: 'request', idText: '1', method, params });
const call = (name: unknown): RpcMessage => request('tools/call', { name });
const rules = [rule(['get_me', 'create_*', '!create_note'], github), rule(['create_issue', 'sprint'], jira), rule(['create_issue'], jira, github), rule(['nothing'])];

test('every rule that matches adds its requirements, each once and in the order of the rules', () => {
  assert.deepEqual(matchRules(rules, call('get_me')), [github]);
  assert.deepEqual(matchRules(rules, call('create_issue')), [github, jira]);
  assert.deepEqual(matchRules(rules, call('sprint')), [jira]);
});

test('what no rule names needs nothing, and names are compared exactly', () => {
  for (const name of ['create_note', 'other', '', 'GET_ME', ' get_me', 'get_me ', 'nothing', 'xcreate_a']) assert.deepEqual(matchRules(rules, call(name)), [], name);
});

test('only tools/call can match: never the handshake, a ping or a list, whatever name they carry', () => {
  for (const method of ['initialize', 'ping', 'tools/list', 'resources/list', 'prompts/get', 'tools/call/', 'Tools/Call']) assert.deepEqual(matchRules(rules, request(method, { name: 'get_me' })), [], method);
  assert.deepEqual(matchRules(rules, { kind: 'response' }), []);
  assert.deepEqual(matchRules(rules, { kind: 'notification', method: 'notifications/progress', params: { name: 'get_me' } }), []);
});

test('a name that is no text is no tool', () => {
  for (const name of [undefined, null, 1, {}, ['get_me']]) assert.deepEqual(targetsOf(call(name)), []);
  assert.deepEqual(targetsOf(call('get_me')), [{ kind: 'tool', name: 'get_me' }]);
});

test('resources are known by their URI, prompts by their name, and completions by what they name, whatever type they say', () => {
  assert.deepEqual(targetsOf(request('resources/read', { uri: 'a://b', name: 'x' })), [{ kind: 'resource', name: 'a://b' }]);
  assert.deepEqual(targetsOf(request('resources/subscribe', { uri: 'a://b' })), [{ kind: 'resource', name: 'a://b' }]);
  assert.deepEqual(targetsOf(request('prompts/get', { name: 'p' })), [{ kind: 'prompt', name: 'p' }]);
  assert.deepEqual(targetsOf(request('completion/complete', { ref: { type: 'ref/prompt', name: 'p' } })), [{ kind: 'prompt', name: 'p' }]);
  assert.deepEqual(targetsOf(request('completion/complete', { ref: { type: 'ref/prompt', name: 'p', uri: 'a://b' } })), [{ kind: 'prompt', name: 'p' }, { kind: 'resource', name: 'a://b' }]);
  for (const method of ['resources/list', 'resources/templates/list', 'resources/unsubscribe', 'prompts/list']) assert.deepEqual(targetsOf(request(method, { uri: 'a://b', name: 'p' })), [], method);
});

const reach = (more: Partial<Reach> = {}): Reach => ({ era: 'legacy', takesUrls: true, mayHold: false, fallback: 'text', ...more });
const secret = {} as Secret;
const held = (...credentials: readonly RequiredCredential[]) => credentials.map((credential) => ({ credential, secret }));

test('a call that needs nothing passes, and takes along what the person has when there is something', () => {
  assert.deepEqual(decide([], [], reach()), { kind: 'pass' });
  assert.deepEqual(decide([], held(jiraKey), reach()), { kind: 'inject', held: held(jiraKey) });
});

test('a call goes with its credentials only when all of them are there; what is missing is asked for', () => {
  assert.deepEqual(decide([github, jira], held(jiraKey, githubKey), reach()), { kind: 'inject', held: held(jiraKey, githubKey) });
  assert.deepEqual(decide([github, jira], held(jiraKey), reach()), { kind: 'elicit', missing: [github], rung: 'url-error' });
  assert.deepEqual(decide([github, jira], [], reach()), { kind: 'elicit', missing: [github, jira], rung: 'url-error' });
});

test('another credential of the same name is not the one that is required', () => {
  assert.equal(decide([github], held({ ...githubKey }), reach()).kind, 'elicit');
});

test('who takes no URLs gets the fallback', () => {
  assert.deepEqual(decide([github], [], reach({ takesUrls: false })), { kind: 'elicit', missing: [github], rung: 'text' });
  assert.deepEqual(decide([github], [], reach({ takesUrls: false, fallback: 'refuse' })), { kind: 'elicit', missing: [github], rung: 'refuse' });
});

test('the rung follows from the era, from what the client takes, and from whether its call may be held', () => {
  const rung = (more: Partial<Reach>) => {
    const decision = decide([github], [], reach(more));
    return decision.kind === 'elicit' ? decision.rung : undefined;
  };
  assert.equal(rung({ era: 'modern' }), 'input-required');
  assert.equal(rung({ era: 'modern', mayHold: true }), 'input-required');
  assert.equal(rung({ era: 'modern', takesUrls: false, fallback: 'refuse' }), 'refuse');
  assert.equal(rung({ mayHold: true }), 'url-request');
  assert.equal(rung({ mayHold: true, takesUrls: false }), 'text');
});

test('a choice is met by any one of its credentials, and is missing when there is none', () => {
  const choice = any(githubKey, packKey);
  assert.deepEqual(decide([choice], held(packKey), reach()), { kind: 'inject', held: held(packKey) });
  assert.deepEqual(decide([choice], held(jiraKey), reach()), { kind: 'elicit', missing: [choice], rung: 'url-error' });
});

test('a choice is no question of its own where one of its credentials is asked for anyway', () => {
  const missing = (...required: readonly Requirement[]) => {
    const decision = decide(required, [], reach());
    return decision.kind === 'elicit' ? decision.missing : [];
  };
  const choice = any(githubKey, packKey);
  assert.deepEqual(missing(choice, github), [github]);
  assert.deepEqual(missing(choice, jira), [choice, jira]);
  assert.deepEqual(missing(choice, any(githubKey, packKey, jiraKey)), [choice]);
  const scoped: Requirement = { anyOf: [githubKey], scopes: ['read'] };
  assert.deepEqual(missing(github, scoped), [github, scoped]);
});

test('of a choice one goes along: one that goes anyway, or else the first in the order of the file', () => {
  const all = held(githubKey, jiraKey, packKey);
  const chosen = (...required: readonly Requirement[]) => choose(required, all).map(({ credential }) => credential.config.name);
  assert.deepEqual(chosen(any(packKey, githubKey)), ['pack']);
  assert.deepEqual(chosen(any(packKey, githubKey), github), ['github']);
  assert.deepEqual(chosen(github, jira), ['github', 'jira']);
  assert.deepEqual(choose([any(packKey, githubKey)], held(githubKey)), held(githubKey));
  assert.deepEqual(chosen(), []);
});

test('a choice is one question, whatever the order of its names, and belongs to an upstream unless every answer serves all', () => {
  assert.equal(questionName(any(packKey, githubKey)), 'github|pack');
  assert.equal(questionName(any(githubKey, packKey)), 'github|pack');
  assert.equal(questionName(github), 'github');
  assert.equal(questionPlace(any(packKey, githubKey)), 'main');
  assert.equal(questionPlace(any(packKey)), undefined);
});
