import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderAccount, renderConsent, renderLoginProblem, renderSignedOut, renderWrongPerson } from '../../src/pages/person-views.ts';
import { headingOf, readable, titleOf } from './reading.ts';
import { personPages, sampleConsent, sampleFrame, sampleRows } from './samples.ts';

const english = sampleFrame('en');
const form = { action: '/account', csrf: 'csrf-t0ken' };

const headings: Readonly<Record<string, readonly [english: string, german: string, chinese: string, thai: string]>> = {
  account: ['Your connections', 'Ihre Verbindungen', '您的连接', 'การเชื่อมต่อของคุณ'],
  'account-empty': ['Your connections', 'Ihre Verbindungen', '您的连接', 'การเชื่อมต่อของคุณ'],
  consent: ['May another app use GitHub?', 'Darf eine weitere App GitHub verwenden?', '允许另一个应用使用 GitHub 吗？', 'อนุญาตให้อีกแอปหนึ่งใช้ GitHub หรือไม่'],
  'wrong-person': ['This link is for another account', 'Dieser Link gehört zu einem anderen Konto', '此链接不适用于当前账号', 'ลิงก์นี้ไม่ใช่สำหรับบัญชีนี้'],
  'wrong-person-elsewhere': ['This link is for another account', 'Dieser Link gehört zu einem anderen Konto', '此链接不适用于当前账号', 'ลิงก์นี้ไม่ใช่สำหรับบัญชีนี้'],
  'signed-out': ['You are signed out', 'Sie sind abgemeldet', '您已退出登录', 'คุณออกจากระบบแล้ว'],
  'login-stale': ['This sign-in is no longer valid', 'Diese Anmeldung gilt nicht mehr', '这次登录已失效', 'การเข้าสู่ระบบครั้งนี้ใช้ไม่ได้แล้ว'],
  'login-denied': ['You are not signed in', 'Sie sind nicht angemeldet', '您尚未登录', 'คุณยังไม่ได้เข้าสู่ระบบ'],
  'login-failed': ['The sign-in did not work', 'Die Anmeldung hat nicht geklappt', '登录没有成功', 'เข้าสู่ระบบไม่สำเร็จ'],
  'login-unavailable': ['Signing in is not possible at the moment', 'Im Moment ist keine Anmeldung möglich', '暂时无法登录', 'ขณะนี้เข้าสู่ระบบไม่ได้'],
};

describe('the words of every page about the person', () => {
  for (const [index, language] of ['en', 'de', 'zh-CN', 'th'].entries()) {
    test(`every page has its own heading in ${language}`, () => {
      const pages = Object.entries(personPages(sampleFrame(language))).map(([name, html]) => [name, headingOf(html)]);
      assert.deepEqual(pages, Object.entries(headings).map(([name, words]) => [name, words[index]]));
    });
  }
});

describe('the page of connections', () => {
  const html = renderAccount(english, { ...form, rows: sampleRows, signOut: { action: '/auth/logout' } });
  const text = readable(html);

  test('says whose connections they are', () => {
    assert.match(text, /What is stored here belongs to mia@example\.com\. Nobody else can use it\./);
  });

  test('groups them by server', () => {
    assert.deepEqual(
      [...html.matchAll(/<h2 [^>]*>(.*?)<\/h2>|<h3 [^>]*><bdi>(.*?)<\/bdi>/g)].map(([, server, title]) => server ?? `- ${title ?? ''}`),
      ['GitHub tools', '- GitHub', '- Package registry', 'Jira of the research group', '- Jira', '- Wiki'],
    );
  });

  test('keeps a server together whose connections are not in a row', () => {
    const [github, registry, jira] = sampleRows;
    assert.ok(github && registry && jira);
    const mixed = renderAccount(english, { ...form, rows: [github, jira, registry] });
    assert.deepEqual([...mixed.matchAll(/<h2 [^>]*>(.*?)<\/h2>/g)].map(([, server]) => server), ['GitHub tools', 'Jira of the research group']);
  });

  test('says of what is stored where it goes, since when, when it was last used and through which apps', () => {
    assert.match(
      text,
      /GitHub Connected A personal access token, so that tools act as you\. Sent only to https:\/\/api\.github\.com Stored on March 5, 2026 Last used November 28, 2026 Used through claude-code https:\/\/editor\.example\.com\/client\.json Replace Disconnect/,
    );
  });

  test('says of what is not stored only where it would go', () => {
    assert.match(text, /Package registry Not connected Sent only to https:\/\/api\.github\.com Connect Jira of/);
  });

  test('says why something is no longer used, and what to do', () => {
    assert.match(text, /Jira Please renew What is needed here, or where it goes, has changed since you stored it\./);
    assert.match(text, /Wiki Expired Its time is over, so it is no longer used\. To go on, store it once more\./);
  });

  test('writes days in the calendar of the language, and the exact time for machines', () => {
    const dates = (language: string) => {
      const page = renderAccount(sampleFrame(language), { ...form, rows: sampleRows.slice(2, 3) });
      return [...page.matchAll(/<time datetime="(.*?)">(.*?)<\/time>/g)].map(([, machine, day]) => [machine, day]);
    };
    const [stored, used] = ['2025-12-31T23:59:00.000Z', '2026-01-01T00:00:00.000Z'];
    assert.deepEqual(dates('en'), [[stored, 'December 31, 2025'], [used, 'January 1, 2026']]);
    assert.deepEqual(dates('de'), [[stored, '31. Dezember 2025'], [used, '1. Januar 2026']]);
    assert.deepEqual(dates('zh-CN'), [[stored, '2025年12月31日'], [used, '2026年1月1日']]);
    assert.deepEqual(dates('th'), [[stored, '31 ธันวาคม 2568'], [used, '1 มกราคม 2569']]);
  });

  test('posts for each connection which one it is, with the csrf token', () => {
    const forms = [...html.matchAll(/<form method="post" action="\/account">\n(.*?)<button/gs)].map(([, fields = '']) =>
      [...fields.matchAll(/name="(\w+)" value="(.*?)"/g)].map(([, name, value]) => `${name ?? ''}=${value ?? ''}`).join('&'),
    );
    assert.deepEqual(forms, [
      'csrf=csrf-t0ken&upstream=github&credential=token',
      'csrf=csrf-t0ken&upstream=github&credential=registry',
      'csrf=csrf-t0ken&upstream=jira&credential=jira',
      'csrf=csrf-t0ken&upstream=jira&credential=wiki',
    ]);
    assert.equal(html.match(/name="action" value="connect"/g)?.length, 4);
    assert.equal(html.match(/name="action" value="disconnect"/g)?.length, 3);
  });

  test('offers to sign out where there is a login to end', () => {
    assert.match(html, /<form class="sign-out" method="post" action="\/auth\/logout">\n<input type="hidden" name="csrf" value="csrf-t0ken">\n<button>Sign out</);
    assert.doesNotMatch(renderAccount(english, { ...form, rows: sampleRows }), /Sign out/);
  });

  test('says so when there is nothing to connect', () => {
    const empty = readable(renderAccount(english, { ...form, rows: [] }));
    assert.match(empty, /There is nothing to connect yet\. When a server needs something from you, you will find it here\./);
    assert.doesNotMatch(empty, /Nobody else can use it/);
  });

  test('does not link to itself', () => {
    assert.doesNotMatch(html, /href="\/account"/);
  });
});

describe('the page of consent', () => {
  const html = renderConsent(english, sampleConsent);
  const text = readable(html);

  test('names the app by its id and by the name it gives itself, marked as such', () => {
    assert.match(text, /App Claude Code the name it gives itself App ID https:\/\/claude\.example\.com\/client\.json/);
    const nameless = readable(renderConsent(english, { ...sampleConsent, client: undefined }));
    assert.match(nameless, /Who is asking App ID https:\/\/claude\.example\.com\/client\.json/);
  });

  test('shows the id of an app whole, however long it is', () => {
    const clientId = `https://example.com/${'a'.repeat(200)}/client.json`;
    assert.ok(renderConsent(english, { ...sampleConsent, clientId }).includes(clientId));
  });

  test('says what for, for whom and where it goes, and warns', () => {
    assert.match(text, /Needed for create_issue Stored for mia@example\.com Sent only to https:\/\/api\.github\.com/);
    assert.match(text, /Allow it only if you are working with this app right now\./);
    assert.match(text, /The app gets to use it through this server, but never to see it\./);
  });

  test('posts what the person decided, and links to giving something else', () => {
    assert.match(html, /<form method="post" action="\/connect\/tick3t">\n<input type="hidden" name="csrf" value="csrf-t0ken">/);
    assert.match(html, /<button class="main" name="action" value="agree">Allow<\/button>/);
    assert.match(html, /<button name="action" value="decline">Not now<\/button>/);
    assert.match(html, /<a href="\?replace=1">Store a different one instead<\/a>/);
  });

  test('is titled with the credential, the server and the site', () => {
    assert.equal(titleOf(html), 'Another app wants to use GitHub for GitHub tools · Example Inc.');
  });
});

describe('the page for the wrong person', () => {
  test('names the account of the visitor and how to switch', () => {
    const html = renderWrongPerson(english, { account: 'noah@example.com', switchUrl: '/auth/login?switch=1' });
    assert.match(readable(html), /Signed in as noah@example\.com It was made for someone else, or for another account of yours\./);
    assert.match(html, /<a class="button main" href="\/auth\/login\?switch=1">Use another account<\/a>/);
  });

  test('says how to switch where these pages have no login', () => {
    const html = renderWrongPerson(english, { account: 'noah@example.com' });
    assert.match(readable(html), /sign out where you signed in, sign in with that one, and open the link once more\./);
    assert.doesNotMatch(html, /class="button/);
  });

  test('shows no other account, not even from the frame', () => {
    const html = renderWrongPerson(english, { account: 'noah@example.com', switchUrl: '/switch' });
    assert.doesNotMatch(html, /mia@example\.com/);
  });
});

test('after logging out nobody is named, and the way back is there', () => {
  const html = renderSignedOut(english, { loginUrl: '/auth/login' });
  assert.doesNotMatch(html, /mia@example\.com|Not you|Your connections/);
  assert.match(readable(html), /What you have stored stays stored, for you alone\. Your organisation may still have you signed in\./);
  assert.match(html, /<a class="button main" href="\/auth\/login">Sign in again<\/a>/);
});

test('a login that failed says why, that the link is still good, and leads to another try', () => {
  const html = renderLoginProblem(english, { reason: 'stale', retryUrl: '/auth/login?return=account' });
  assert.doesNotMatch(html, /mia@example\.com/);
  assert.match(readable(html), /It took too long, was finished already, or began in a different browser\. A link that you were given stays as it is\./);
  assert.match(html, /<a class="button main" href="\/auth\/login\?return=account">Sign in again<\/a>/);
});
