import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderDeclined, renderDone, renderEntry, renderExpired, renderProblem } from '../../src/pages/views.ts';
import { shippedLanguages } from '../../src/pages/words.ts';
import { headingOf, readable, titleOf } from './reading.ts';
import { linkPages, sampleEntry, sampleEntryWithProblems, sampleFrame, samplePages } from './samples.ts';

const english = sampleFrame('en');
const german = sampleFrame('de');

describe('every page', () => {
  for (const language of shippedLanguages) {
    test(`is in ${language} a document in that language without script, inline style or foreign parts`, () => {
      for (const [name, html] of Object.entries(samplePages(sampleFrame(language)))) {
        assert.match(html, new RegExp(`^<!doctype html>\\n<html lang="${language}" dir="ltr">`), name);
        assert.match(html, /<meta name="viewport" content="width=device-width, initial-scale=1">/, name);
        assert.doesNotMatch(html, /<script|<style|\sstyle=|\son\w+=|javascript:/i, name);
        assert.doesNotMatch(html, /<(?:img|link|script)[^>]*(?:src|href)="(?:https?:)?\/\//, name);
        assert.doesNotMatch(readable(html), /undefined|null|NaN|\[object|<%|\$\{/, name);
        assert.equal(html.match(/<h1>/g)?.length, 1, name);
      }
    });
  }
});

const headings: Readonly<Record<string, readonly [english: string, german: string, chinese: string, thai: string]>> = {
  choice: ['Which one do you want to connect?', 'Was möchten Sie verbinden?', '您想连接哪一个？', 'คุณต้องการเชื่อมต่ออะไร'],
  entry: ['Connect GitHub', 'GitHub verbinden', '连接 GitHub', 'เชื่อมต่อ GitHub'],
  'entry-problems': ['Connect Jira', 'Jira verbinden', '连接 Jira', 'เชื่อมต่อ Jira'],
  'done-by-itself': ['GitHub is connected', 'GitHub ist verbunden', 'GitHub 已连接', 'เชื่อมต่อ GitHub แล้ว'],
  'done-say-continue': ['GitHub is connected', 'GitHub ist verbunden', 'GitHub 已连接', 'เชื่อมต่อ GitHub แล้ว'],
  declined: ['All right, not now', 'In Ordnung, jetzt nicht', '好的，以后再说', 'ได้เลย ไว้ทีหลัง'],
  'expired-renew': ['This link has expired', 'Dieser Link ist abgelaufen', '此链接已过期', 'ลิงก์นี้หมดอายุแล้ว'],
  'expired-ask-again': ['This link has expired', 'Dieser Link ist abgelaufen', '此链接已过期', 'ลิงก์นี้หมดอายุแล้ว'],
  'already-done': ['GitHub: all done already', 'GitHub: schon erledigt', 'GitHub：已经完成', 'GitHub: เสร็จเรียบร้อยแล้ว'],
  'problem-not-found': ['This link does not work', 'Dieser Link funktioniert nicht', '此链接无法使用', 'ลิงก์นี้ใช้ไม่ได้'],
  'problem-forbidden-origin': ['Nothing was stored', 'Es wurde nichts gespeichert', '没有保存任何内容', 'ไม่มีการบันทึกข้อมูลใด\u00a0ๆ'],
  'problem-too-many': ['A short pause, please', 'Bitte eine kurze Pause', '请稍等片刻', 'โปรดรอสักครู่'],
  'problem-unavailable': ['Not possible at the moment', 'Im Moment nicht möglich', '暂时无法进行', 'ขณะนี้ดำเนินการไม่ได้'],
  'problem-not-local': ['Only on the same computer', 'Nur auf demselben Computer', '只能在同一台电脑上打开', 'เปิดได้เฉพาะบนคอมพิวเตอร์เครื่องเดียวกัน'],
  'problem-not-known': ['Please sign in first', 'Bitte melden Sie sich zuerst an', '请先登录', 'โปรดเข้าสู่ระบบก่อน'],
  'problem-too-large': ['That was too much text', 'Das war zu viel Text', '内容太多了', 'ข้อความยาวเกินไป'],
  'problem-bad-request': ['That did not come through', 'Das ist nicht angekommen', '没有收到您的提交', 'รับข้อมูลไม่สำเร็จ'],
};

describe('the words of every page of a link', () => {
  for (const [index, language] of ['en', 'de', 'zh-CN', 'th'].entries()) {
    test(`every page has its own heading in ${language}`, () => {
      const pages = Object.entries(linkPages(sampleFrame(language))).map(([name, html]) => [name, headingOf(html)]);
      assert.deepEqual(pages, Object.entries(headings).map(([name, words]) => [name, words[index]]));
    });
  }
});

describe('the entry page', () => {
  const text = readable(renderEntry(english, sampleEntry));

  test('says who asks, through which client, for what, for whom it is stored, where it goes and for how long', () => {
    assert.match(text, /Asked for by GitHub tools Connect GitHub/);
    assert.match(text, /Asked through Claude Code the name it gives itself/);
    assert.match(text, /Needed for create_issue/);
    assert.match(text, /Stored for mia@example\.com/);
    assert.match(text, /Sent only to http:\/\/127\.0\.0\.1:3000/);
    assert.match(text, /Kept for 90 days/);
  });

  test('says that neither the assistant nor the client sees it', () => {
    assert.match(text, /Stored encrypted\. Neither the assistant nor Claude Code gets to see it\./);
  });

  test('says the same in German', () => {
    const inGerman = readable(renderEntry(german, sampleEntry));
    assert.match(inGerman, /Angefragt über Claude Code so nennt sich die App selbst/);
    assert.match(inGerman, /Gespeichert für mia@example\.com/);
    assert.match(inGerman, /Geht nur an http:\/\/127\.0\.0\.1:3000/);
    assert.match(inGerman, /Aufbewahrt für 90 Tage/);
    assert.match(inGerman, /Weder der Assistent noch Claude Code bekommt es zu sehen\./);
  });

  test('leaves out what is not known instead of showing an empty row', () => {
    const html = renderEntry(english, sampleEntryWithProblems);
    assert.deepEqual(
      [...html.matchAll(/<dt>(.*?)<\/dt>/g)].map(([, term]) => term),
      ['Stored for', 'Sent only to'],
    );
  });

  test('is titled with the credential, the server and the site', () => {
    assert.equal(titleOf(renderEntry(english, sampleEntry)), 'Connect GitHub for GitHub tools · Example Inc.');
    assert.equal(titleOf(renderEntry(german, sampleEntry)), 'GitHub verbinden für GitHub tools · Example Inc.');
  });

  test('posts the field by its own name, the csrf token, and what the person decided', () => {
    const html = renderEntry(english, sampleEntry);
    assert.match(html, /<form method="post" action="\/connect\/tick3t" autocomplete="off">/);
    assert.match(html, /<input type="hidden" name="csrf" value="csrf-t0ken">/);
    assert.match(html, /<input type="password" id="field-1" name="token"/);
    assert.match(html, /<button class="main" name="action" value="give">Save and continue<\/button>/);
    assert.match(html, /<button name="action" value="decline" formnovalidate>Not now<\/button>/);
  });

  test('asks browsers neither to remember, correct nor capitalise what is typed', () => {
    const [input = ''] = /<input type="password"[^>]*>/.exec(renderEntry(english, sampleEntry)) ?? [];
    for (const attribute of ['autocomplete="off"', 'autocapitalize="off"', 'autocorrect="off"', 'spellcheck="false"']) {
      assert.ok(input.includes(attribute), attribute);
    }
  });

  test('links the help page by its host, without a referrer', () => {
    assert.match(
      renderEntry(english, sampleEntry),
      /<a href="https:\/\/github\.com\/settings\/tokens" target="_blank" rel="noopener noreferrer">Where to find this on github\.com /,
    );
  });

  test('tells that a stored secret will be replaced, and only then', () => {
    assert.match(readable(renderEntry(english, { ...sampleEntry, replaces: true })), /What you enter now takes its place\./);
    assert.doesNotMatch(text, /takes its place/);
  });

  test('never shows a secret again, and keeps what is not secret', () => {
    const html = renderEntry(english, sampleEntryWithProblems);
    assert.doesNotMatch(html, /never-shown/);
    assert.match(html, /name="email" value="mia@example"/);
    assert.match(html, /<textarea rows="6" id="field-3" name="notes"[^>]*>\n\none\ntwo<\/textarea>/);
  });

  test('hides a secret of several lines as well', () => {
    assert.match(renderEntry(english, sampleEntryWithProblems), /<textarea rows="6" id="field-4" name="key" class="veiled"/);
  });
});

describe('the entry page after a problem', () => {
  const html = renderEntry(english, sampleEntryWithProblems);

  test('says so first: in the title, in an alert, and with a link to each field', () => {
    assert.equal(titleOf(html), 'Please check: connect Jira for Jira of the research group · Example Inc.');
    assert.match(html, /role="alert">\n<h2>3 entries need another look<\/h2>/);
    assert.match(html, /<a href="#field-1">E-mail<\/a>/);
    assert.match(html, /<a href="#field-2">API token<\/a>/);
    assert.match(html, /<a href="#field-4">Private key<\/a>/);
    assert.doesNotMatch(html, /href="#field-3"/);
  });

  test('puts the focus on the first field that needs a look, and only there', () => {
    assert.equal(html.match(/ autofocus/g)?.length, 1);
    assert.match(html, /id="field-1"[^>]* autofocus/);
  });

  test('ties hint and problem to the input', () => {
    assert.match(html, /id="field-1"[^>]* aria-describedby="field-1-problem" aria-invalid="true"/);
    assert.match(html, /id="field-4"[^>]* aria-describedby="field-4-hint field-4-problem" aria-invalid="true"/);
    assert.match(html, /<p class="hint" id="field-4-hint">PEM, several lines<\/p>/);
  });

  test('has one sentence for each problem, in both languages', () => {
    const sentences = {
      empty: ['Please fill this in.', 'Bitte füllen Sie dieses Feld aus.'],
      pattern: ['This does not have the expected form.', 'Das hat nicht die erwartete Form.'],
      unusable: ['This contains characters that cannot be used here', 'Das enthält Zeichen, die hier nicht möglich sind'],
      'too-long': ['This is longer than it can be.', 'Das ist länger als möglich.'],
    } as const;
    for (const problem of ['empty', 'pattern', 'unusable', 'too-long'] as const) {
      const entry = { ...sampleEntry, fields: sampleEntry.fields.map((field) => ({ ...field, problem })) };
      const [inEnglish, inGerman] = sentences[problem];
      assert.ok(readable(renderEntry(english, entry)).includes(`Please check: ${inEnglish}`), problem);
      assert.ok(readable(renderEntry(german, entry)).includes(`Bitte prüfen: ${inGerman}`), problem);
    }
  });
});

describe('what happens next', () => {
  test('a client that goes on by itself is named, with what to do if it does not', () => {
    const html = renderDone(english, { title: 'GitHub', client: 'Claude Code', continues: 'by-itself' });
    assert.match(readable(html), /Claude Code goes on by itself\. If it does not, go back and say “continue”\. You may close this page\./);
  });

  test('for another client the person goes back and says so', () => {
    const html = renderDone(german, { title: 'GitHub', client: 'Claude Code', continues: 'say-continue' });
    assert.match(readable(html), /Gehen Sie zurück zu Claude Code und schreiben Sie „weiter“\. Sie können diese Seite schließen\./);
  });

  test('"not now" says that nothing was stored and how to come back', () => {
    assert.match(readable(renderDeclined(english, {})), /Nothing was stored\. Whenever you want to connect, ask again in the app you came from\./);
  });

  test('an expired link offers a new one by a button when that is possible', () => {
    const form = { action: '/connect/tick3t', csrf: 'csrf-t0ken', title: 'GitHub' };
    const renewable = renderExpired(english, { ...form, canRenew: true });
    assert.match(renewable, /name="csrf" value="csrf-t0ken"/);
    assert.match(renewable, /<button class="main" name="action" value="renew">Get a new link<\/button>/);
    assert.doesNotMatch(renderExpired(english, { ...form, canRenew: false }), /<form|csrf/);
  });

  test('too many tries says how long to wait, when that is known', () => {
    const wait = (retryAfterSeconds?: number) => readable(renderProblem(english, { reason: 'too-many', retryAfterSeconds }));
    assert.match(wait(40), /Please wait 40 seconds, then try again\./);
    assert.match(wait(600), /Please wait 10 minutes, then try again\./);
    assert.match(wait(), /Please wait a moment, then try again\./);
  });
});

describe('the frame', () => {
  test('names who is signed in, and nobody when nobody is known', () => {
    assert.match(readable(renderDeclined(english, {})), /Signed in as mia@example\.com/);
    assert.doesNotMatch(readable(renderDeclined({ ...english, account: undefined }, {})), /Signed in/);
  });

  test('leads to another login and to the connections, where there are such pages', () => {
    const html = renderDeclined(english, {});
    assert.match(html, /<a href="\/auth\/login\?switch=1">Not you\?<\/a>/);
    assert.match(html, /<a href="\/account">Your connections<\/a>/);
    const local = renderDeclined({ ...english, switchUrl: undefined, accountUrl: undefined }, {});
    assert.doesNotMatch(local, /Not you|Your connections/);
  });

  test('has a switch of languages that marks the current one, and none when there is one language', () => {
    const html = renderDeclined(german, {});
    assert.match(readable(html), /Sprache Deutsch English Deutsch 简体中文 ไทย /);
    assert.match(html, /<a href="\?lang=en" lang="en" hreflang="en">English<\/a>/);
    assert.match(html, /<a href="\?lang=de" lang="de" hreflang="de" aria-current="true">Deutsch<\/a>/);
    assert.doesNotMatch(renderDeclined({ ...german, languages: german.languages.slice(0, 1) }, {}), /<nav/);
  });

  test('shows the logo in place of the mark', () => {
    const html = renderDeclined({ ...english, logoUrl: 'data:image/png;base64,AAAA' }, {});
    assert.match(html, /<img class="logo" src="data:image\/png;base64,AAAA" alt="" height="32">/);
    assert.doesNotMatch(html, /class="mark"/);
  });

  test('links support and the configured pages, but nothing that is not an address of the web or of mail', () => {
    const links = [
      { title: 'Privacy', url: 'https://example.com/privacy' },
      { title: 'Trap', url: 'javascript:alert(1)' },
      { title: 'Half', url: '//example.com' },
    ];
    const html = renderDeclined({ ...english, support: 'mailto:it@example.com', links }, {});
    assert.match(html, /<a href="mailto:it@example\.com" rel="noopener noreferrer">Get help<\/a>/);
    assert.match(html, /<a href="https:\/\/example\.com\/privacy"/);
    assert.doesNotMatch(html, /Trap|Half/);
    assert.doesNotMatch(renderDeclined({ ...english, support: undefined, links: [] }, {}), /<footer/);
  });
});
