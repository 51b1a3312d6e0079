/**
 * An upstream that is a program, spoken to over standard input and output (MCP 2025-11-25, basic/transports).
 * A program serves one client, so nothing of a person ever reaches a process that serves another: the
 * handshake and the lists come from a process without secrets, one for each set of client parameters, of
 * which only answers are heard; everything else goes to processes of the person's own, opened with her
 * client's parameters: one without secrets, and one for what she gave. When that changes, a new one takes
 * its place.
 */
import { createHash } from 'node:crypto';
import type { StdioUpstream } from '../config/config.ts';
import { memberText } from '../protocol/json-edit.ts';
import { isObject } from '../protocol/json-rpc.ts';
import { startChild, type Program, type SignalGroup } from './child.ts';
import { Conversation, type Opening, type Owner } from './conversation.ts';
import { createConversationPool } from './conversation-pool.ts';
import type { Report } from './peer.ts';
import { createProgramWords } from './program-words.ts';
import { carriesSecrets, SessionHost, type Conversations } from './session-host.ts';
import type { Upstream, UpstreamRequest } from './upstream.ts';

export interface StdioEdge {
  readonly report: Report;
  readonly now: () => number;
  readonly signalGroup: SignalGroup;
}

/** A program that is fetched first takes its time. */
const openWithinMs = 120_000;
/** One that does not know the question may not answer at all. */
const probeWithinMs = 10_000;
const shared = new Set(['server/discover', 'tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']);

export function createStdioUpstream(upstream: StdioUpstream, { report, now, signalGroup }: StdioEdge): Upstream {
  const pool = createConversationPool({ idleAfterMs: upstream.idleAfter, maxOpen: upstream.maxProcesses });
  const say = createProgramWords(report, now);
  const discoveryEnv = { ...upstream.env, ...upstream.discoveryEnv };
  /** What the program of each conversation has been told that must not reach the log: at its start, and in messages since. */
  const told = new WeakMap<Conversation, Set<string>>();
  let isLegacy = false;

  function converse(opening: Opening, owner: Owner | undefined, request: UpstreamRequest, isOwn: boolean, slot: number): Conversation {
    const holdsSecrets = isOwn && carriesSecrets(request);
    const secrets = new Set(holdsSecrets ? Object.values(request.env ?? {}) : []);
    const { runAs, cwd } = upstream;
    const program: Program = {
      command: upstream.command,
      args: upstream.args,
      ...(cwd === undefined ? {} : { cwd }),
      env: holdsSecrets ? { ...upstream.env, ...request.env } : discoveryEnv,
      // Under one group number no two processes run at once: a group of its own keeps each one's memory, environment and home from the others.
      ...(runAs === undefined ? {} : { runAs: { uid: runAs.uid, gid: runAs.gid + 2 * slot + (isOwn ? 0 : 1) } }),
      secrets,
    };
    const conversation = new Conversation((events) => startChild(program, say, signalGroup, events), {
      opening,
      owner,
      timeoutMs: upstream.timeout,
      openWithinMs: Math.min(upstream.timeout, opening.method === 'initialize' ? openWithinMs : probeWithinMs),
      noise: (line) => { say(line, 'stdout', secrets); },
    });
    told.set(conversation, secrets);
    return conversation;
  }
  function tell(conversation: Conversation, { secrets = [] }: UpstreamRequest): Conversation {
    for (const secret of secrets) told.get(conversation)?.add(secret);
    return conversation;
  }

  const conversations: Conversations = {
    isDiscoveryShared: true,
    discovery({ params }, request) {
      const opening: Opening = { method: 'initialize', params };
      return pool.get({ key: JSON.stringify(['discovery', digestOf(params)]), digest: '', holdsSecrets: false, open: (slot) => converse(opening, undefined, request, false, slot) });
    },
    own({ id, person, params }, request, owner) {
      const opening: Opening = { method: 'initialize', params };
      const key = JSON.stringify(['own', person, digestOf(params), namesOf(request)]);
      return tell(pool.get({ key, digest: digestOf(JSON.stringify(request.env ?? {})), person, holdsSecrets: hearsSecrets(request), open: (slot) => converse(opening, owner, request, true, slot) }, id), request);
    },
    modern(message, request) {
      const meta = message.params['_meta'];
      const metaText = memberText(message.text, ['params', '_meta']);
      if (isLegacy || metaText === undefined || !isObject(meta) || !('io.modelcontextprotocol/protocolVersion' in meta)) return undefined;
      const isOwn = carriesSecrets(request) || !shared.has(message.method ?? '');
      const opening: Opening = { method: 'server/discover', params: `{"_meta":${metaText}}` };
      const key = JSON.stringify(isOwn ? ['modern', request.person, namesOf(request)] : ['modern']);
      const whose = isOwn && request.person !== undefined ? { person: request.person } : {};
      const conversation = pool.get({ key, digest: digestOf(JSON.stringify(request.env ?? {})), ...whose, holdsSecrets: hearsSecrets(request), open: (slot) => converse(opening, undefined, request, isOwn, slot) });
      if (isOwn) tell(conversation, request);
      void conversation.opened.then((opened) => { if (memberText(opened, ['error']) !== undefined) isLegacy = true; }, () => undefined);
      return conversation;
    },
    left: (session) => { pool.left(session.id); },
    forget: (person) => { pool.forget(person); },
    close: () => pool.close(),
  };
  return new SessionHost(conversations, report);
}

/** Into its environment, or within messages. */
function hearsSecrets(request: UpstreamRequest): boolean {
  return carriesSecrets(request) || (request.secrets ?? []).length > 0;
}

function namesOf({ env = {} }: UpstreamRequest): string[] {
  return Object.keys(env).sort();
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
