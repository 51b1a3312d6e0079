/** A24 at a real program: two people's calls at once at notion-mcp-server, unmodified; the API behind it sees each one's own key. */
import assert from 'node:assert/strict';
import { programOf } from '../kit/installed.ts';
import { planted } from '../kit/planted.ts';
import { startRecorder } from '../kit/recorder.ts';
import { startStdioGateway } from '../kit/stdio-gateway.ts';
import { closingAll, times, type Soak } from './soak.ts';

const atOnce = 8;
const people = [{ name: 'ada', key: planted('ntn_ada-0d5f1c93') }, { name: 'ben', key: planted('ntn_ben-77e0a2bb') }] as const;

export const twoUsersStdio: Soak = {
  name: 'two-users-stdio',
  row: 'A24',
  what: 'two people interleaved at notion-mcp-server over stdio: its API sees each one’s calls with her own key alone',
  full: 1_000,
  small: 40,
  run: (count) => closingAll(async (t) => {
    const api = await startRecorder(() => ({ headers: { 'content-type': 'application/json' }, body: '{"object":"list","results":[]}' }));
    t.after(() => api.close());
    const { as, give } = await startStdioGateway(t, { program: { command: process.execPath, args: [programOf('@notionhq/notion-mcp-server')] }, variable: 'NOTION_TOKEN', with: `env: { BASE_URL: "${new URL(api.url).origin}" }` });
    const clients = await Promise.all(people.map(({ name }) => as(name)));
    for (const [at, { name, key }] of people.entries()) {
      const client = clients[at] ?? assert.fail();
      await give(name, client, 'API-get-users', key);
    }
    await times(count, atOnce, async (at) => {
      const which = at % people.length;
      const answer = await clients[which]?.call('API-get-users', { start_cursor: `of-${people[which]?.name ?? ''}-${at}` });
      assert.match(answer?.text ?? '', /results/);
    });
    const seen = api.requests.map(({ path, header }) => ({ key: header('authorization'), cursor: new URL(path, 'http://x').searchParams.get('start_cursor') ?? '' }));
    assert.equal(new Set(seen.map(({ cursor }) => cursor)).size, count);
    const strays = seen.filter(({ key, cursor }) => !people.some((person) => key === `Bearer ${person.key}` && cursor.startsWith(`of-${person.name}-`)));
    assert.deepEqual(strays, []);
    return { figures: [{ what: 'calls that arrived', measured: seen.length, unit: '' }, { what: 'with another’s key', measured: strays.length, unit: '', bar: 0 }] };
  }),
};
