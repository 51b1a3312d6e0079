/** Attack A3: a login callback that somebody else began, so that a victim gives her key into the attacker's account. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { startRightPerson } from '../kit/right-person.ts';
import { createWebVisitor, type Opened } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

const redeemed = () => provider.requests.filter((path) => path === '/token').length;
const isStale = (page: Opened) => page.status === 400 && page.html.includes('This sign-in is no longer valid') && page.headers.getSetCookie().every((line) => !line.startsWith('elicitgate-session='));

test('a callback in another browser than the one that began it is refused before the code is redeemed, and stays good there (A3)', async (t) => {
  const { proxy } = await startRightPerson(t, provider);
  const account = `${proxy.origin}/account`;
  const [attacker, victim] = [createWebVisitor(), createWebVisitor()];
  const callback = await attacker.callbackFor('ben', account);
  await victim.callbackFor('ada', account);
  const before = redeemed();
  assert.ok(isStale(await victim.ask(callback)), 'with a transaction of her own');
  assert.ok(isStale(await createWebVisitor().ask(callback)), 'without any cookie');
  const [name = '', value = ''] = [...attacker.cookies].find(([one]) => one.startsWith('elicitgate-login-')) ?? [];
  const forger = createWebVisitor();
  for (const forged of ['', 'x', value.slice(0, -1), `${value}x`, [...victim.cookies].find(([one]) => one.startsWith('elicitgate-login-'))?.[1] ?? '']) {
    forger.cookies.set(name, forged);
    assert.ok(isStale(await forger.ask(callback)), forged);
  }
  assert.equal(redeemed(), before);
  assert.equal((await attacker.open(callback)).status, 200);
  assert.deepEqual(proxy.audit.map(({ audit, subject }) => [audit, subject]), [['login', 'ben']]);
});

test('a callback counts once, within ten minutes, with its own state once (A3)', async (t) => {
  const { proxy } = await startRightPerson(t, provider);
  const login = `${proxy.origin}/auth/login?return=account`;
  const ada = createWebVisitor();
  const first = await ada.callbackFor('ada', login);
  const cookies = new Map(ada.cookies);
  assert.equal((await ada.ask(first)).status, 303);
  const before = redeemed();
  for (const [name, value] of cookies) ada.cookies.set(name, value);
  assert.ok(isStale(await ada.ask(first)), 'twice');

  const late = await ada.callbackFor('ada', login);
  proxy.pass(600_001);
  assert.ok(isStale(await ada.ask(late)), 'late');

  const third = new URL(await ada.callbackFor('ada', login));
  const changed = (change: (search: URLSearchParams) => void) => {
    const url = new URL(third);
    change(url.searchParams);
    return url.href;
  };
  const forged = [
    changed((search) => search.delete('state')),
    changed((search) => search.set('state', '')),
    changed((search) => search.append('state', 'x')),
    changed((search) => search.append('state', search.get('state') ?? '')),
    changed((search) => search.set('state', `${search.get('state') ?? ''}x`)),
    `${proxy.origin}/auth/callback`,
  ];
  for (const url of forged) assert.ok(isStale(await ada.ask(url)), url);
  assert.equal(redeemed(), before);
  assert.equal((await ada.ask(third.href)).status, 303, 'it is still good');
});

test('the page names the account that it stores for, and lets her say that it is not hers (A3)', async (t) => {
  const { link, client } = await startRightPerson(t, provider);
  const page = await createWebVisitor().openAs('ada', await link(await client('ada')));
  assert.match(page.html, /<dt>Stored for<\/dt>\s*<dd><bdi>Ada Lovelace<\/bdi><\/dd>/);
  assert.match(page.html, /<a href="\/auth\/login\?return=connect%2F[\w-]+&amp;switch=1">Not you\?<\/a>/);
});
