/** A24: two people's calls in turn and at once, at a stateful upstream: each travels with her own key, in her own session. */
import assert from 'node:assert/strict';
import { generateKey } from '../../src/operate/key-file.ts';
import { connect, urlMode } from '../kit/mcp-client.ts';
import { mcpServer, text } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { startRecorder } from '../kit/recorder.ts';
import { giveKey, headersOf, namedPeople } from './person.ts';
import { serve } from './served.ts';
import { closingAll, times, type Soak } from './soak.ts';

const atOnce = 16;
const keys: Readonly<Record<string, string>> = { ada: planted('sk-of-ada-7d1e55c0a9'), ben: planted('sk-of-ben-c42f90be13') };

interface Arrived {
  readonly person: string;
  readonly key: string | undefined;
  readonly session: string | undefined;
}

export const twoUsers: Soak = {
  name: 'two-users',
  row: 'A24',
  what: 'two people interleaved, at a stateful upstream: each one’s calls carry only her own key and session',
  full: 10_000,
  small: 200,
  run: (count) => closingAll(async (t) => {
    const arrived: Arrived[] = [];
    const paid = mcpServer({
      tools: {
        paid: (call, request) => {
          const { person } = call.params?.arguments as { readonly person: string };
          const sent = request.header('x-key');
          arrived.push({ person, key: sent, session: request.header('mcp-session-id') });
          return text(`${person}: ${sent ?? ''}`);
        },
      },
    });
    const upstream = await startRecorder((request) => {
      upstream.forget();
      return paid(request);
    });
    t.after(() => upstream.close());
    // What is kept in memory is kept here too: that is where one could be taken for the other.
    const served = await serve(t, { upstream: upstream.url, file: `${namedPeople}\nvault: { store: "sqlite:./elicitgate.db", keys: ["${generateKey()}"] }` });
    const people = Object.keys(keys);
    const clients = await Promise.all(people.map((person) => connect(served.url, { capabilities: urlMode, headers: headersOf(person) })));
    for (const [person, token] of Object.entries(keys)) await giveKey(served, person, token);
    arrived.length = 0;
    await times(count, atOnce, async (at) => {
      const person = people[at % people.length] ?? '';
      const answer = await clients[at % people.length]?.call('paid', { person });
      assert.equal(answer?.message.result?.content?.[0]?.text, `${person}: [redacted]`);
    });
    assert.equal(arrived.length, count);
    const sessions = people.map((person) => new Set(arrived.filter((one) => one.person === person).map(({ session }) => session)));
    assert.deepEqual(sessions.map(({ size }) => size), [1, 1]);
    assert.notDeepEqual([...(sessions[0] ?? [])], [...(sessions[1] ?? [])]);
    const strays = arrived.filter(({ person, key }) => key !== keys[person]);
    assert.deepEqual(strays, []);
    return { figures: [{ what: 'calls that arrived', measured: arrived.length, unit: '' }, { what: 'with another’s key', measured: strays.length, unit: '', bar: 0 }] };
  }),
};
