/** One of every page, as the tests and the screenshots show them. */
import { renderChoice, type Choice } from '../../src/pages/choice-view.ts';
import { renderAway, renderBack, renderPartly, type Away, type Back } from '../../src/pages/oauth-views.ts';
import { renderAccount, renderConsent, renderLoginProblem, renderSignedOut, renderWrongPerson } from '../../src/pages/person-views.ts';
import type { AccountRow, Consent, LoginReason } from '../../src/pages/person-views.ts';
import {
  renderAlreadyDone,
  renderDeclined,
  renderDone,
  renderEntry,
  renderExpired,
  renderProblem,
} from '../../src/pages/views.ts';
import type { Entry, Frame, ProblemReason } from '../../src/pages/views.ts';
import { shippedLanguages, wordsIn } from '../../src/pages/words.ts';

export const problemReasons = [
  'not-found',
  'forbidden-origin',
  'too-many',
  'unavailable',
  'not-local',
  'not-known',
  'too-large',
  'bad-request',
] as const satisfies readonly ProblemReason[];

export const loginReasons = ['stale', 'denied', 'failed', 'unavailable'] as const satisfies readonly LoginReason[];

export function sampleFrame(language: string): Frame {
  return {
    language,
    siteName: 'Example Inc.',
    support: 'mailto:it@example.com',
    links: [{ title: 'Privacy', url: 'https://example.com/privacy' }],
    languages: shippedLanguages.map((code) => ({ code, name: wordsIn(code).words.languageName, href: `?lang=${code}` })),
    account: 'mia@example.com',
    switchUrl: '/auth/login?switch=1',
    accountUrl: '/account',
    styleUrl: '/assets/style.css',
  };
}

export const sampleEntry: Entry = {
  server: 'GitHub tools',
  client: 'Claude Code',
  title: 'GitHub',
  description: 'A personal access token, so that tools act as you.',
  help: 'https://github.com/settings/tokens',
  purpose: 'create_issue',
  storedFor: 'mia@example.com',
  destination: 'http://127.0.0.1:3000',
  fields: [{ name: 'token', label: 'Personal access token', hint: 'starts with ghp_', secret: true, multiline: false }],
  action: '/connect/tick3t',
  csrf: 'csrf-t0ken',
  keptForMs: 7_776_000_000,
  replaces: false,
};

export const sampleEntryWithProblems: Entry = {
  ...sampleEntry,
  server: 'Jira of the research group',
  client: undefined,
  title: 'Jira',
  description: undefined,
  help: undefined,
  purpose: undefined,
  fields: [
    { name: 'email', label: 'E-mail', secret: false, multiline: false, value: 'mia@example', problem: 'pattern' },
    { name: 'token', label: 'API token', secret: true, multiline: false, value: 'never-shown', problem: 'empty' },
    { name: 'notes', label: 'Remarks', hint: 'for the log', secret: false, multiline: true, value: '\none\ntwo' },
    { name: 'key', label: 'Private key', hint: 'PEM, several lines', secret: true, multiline: true, problem: 'too-long' },
  ],
  keptForMs: undefined,
  replaces: true,
};

const github = { upstream: 'github', server: 'GitHub tools', destination: 'https://api.github.com' } as const;

/** What a person may have: one of each state, at two servers. */
export const sampleRows: readonly AccountRow[] = [
  {
    ...github,
    credential: 'token',
    title: 'GitHub',
    description: 'A personal access token, so that tools act as you.',
    status: 'stored',
    since: Date.UTC(2026, 2, 5, 12),
    lastUsed: Date.UTC(2026, 10, 28, 12),
    clients: ['claude-code', 'https://editor.example.com/client.json'],
  },
  { ...github, credential: 'registry', title: 'Package registry', status: 'none' },
  {
    upstream: 'jira',
    credential: 'jira',
    server: 'Jira of the research group',
    title: 'Jira',
    destination: 'https://jira.example.com',
    status: 'outdated',
    since: Date.UTC(2025, 11, 31, 23, 59),
    lastUsed: Date.UTC(2026, 0, 1),
    clients: ['claude-code'],
  },
  {
    upstream: 'jira',
    credential: 'wiki',
    server: 'Jira of the research group',
    title: 'Wiki',
    destination: 'https://wiki.example.com',
    status: 'expired',
    since: Date.UTC(2026, 7, 20),
    lastUsed: Date.UTC(2026, 8, 1),
    clients: [],
  },
];

export const sampleConsent: Consent = {
  server: 'GitHub tools',
  title: 'GitHub',
  client: 'Claude Code',
  clientId: 'https://claude.example.com/client.json',
  storedFor: 'mia@example.com',
  destination: 'https://api.github.com',
  purpose: 'create_issue',
  replaceUrl: '?replace=1',
  action: '/connect/tick3t',
  csrf: 'csrf-t0ken',
};

export const sampleChoice: Choice = {
  server: 'GitHub tools',
  purpose: 'web_search',
  options: [
    { title: 'GitHub', description: 'A personal access token, so that tools act as you.', href: '?lang=en&with=github' },
    { title: '100 deep searches', href: '?lang=en&with=search-pack' },
  ],
  action: '/connect/tick3t',
  csrf: 'csrf-t0ken',
};

/** The pages of one link, by the names that their screenshots get. */
export function linkPages(frame: Frame): Readonly<Record<string, string>> {
  const form = { action: '/connect/tick3t', csrf: 'csrf-t0ken' };
  return {
    choice: renderChoice(frame, sampleChoice),
    entry: renderEntry(frame, sampleEntry),
    'entry-problems': renderEntry(frame, sampleEntryWithProblems),
    'done-by-itself': renderDone(frame, { title: 'GitHub', client: 'Claude Code', continues: 'by-itself' }),
    'done-say-continue': renderDone(frame, { title: 'GitHub', continues: 'say-continue' }),
    declined: renderDeclined(frame, { client: 'Claude Code' }),
    'expired-renew': renderExpired(frame, { ...form, title: 'GitHub', canRenew: true }),
    'expired-ask-again': renderExpired(frame, { ...form, title: 'GitHub', canRenew: false }),
    'already-done': renderAlreadyDone(frame, { title: 'GitHub' }),
    ...Object.fromEntries(
      problemReasons.map((reason) => [`problem-${reason}`, renderProblem(frame, { reason, retryAfterSeconds: 40 })]),
    ),
  };
}

/** The pages about the person. */
export function personPages(frame: Frame): Readonly<Record<string, string>> {
  return {
    account: renderAccount(frame, { action: '/account', csrf: 'csrf-t0ken', rows: sampleRows, signOut: { action: '/auth/logout' } }),
    'account-empty': renderAccount(frame, { action: '/account', csrf: 'csrf-t0ken', rows: [] }),
    consent: renderConsent(frame, sampleConsent),
    'wrong-person': renderWrongPerson(frame, { account: 'mia@example.com', switchUrl: '/auth/login?switch=1' }),
    'wrong-person-elsewhere': renderWrongPerson(frame, { account: 'mia@example.com' }),
    'signed-out': renderSignedOut(frame, { loginUrl: '/auth/login' }),
    ...Object.fromEntries(
      loginReasons.map((reason) => [`login-${reason}`, renderLoginProblem(frame, { reason, retryUrl: '/auth/login' })]),
    ),
  };
}

export const sampleAway: Away = {
  server: 'Office tools',
  client: 'Claude Code',
  title: 'Google Calendar',
  description: 'So that tools can read your events.',
  purpose: 'list_events',
  storedFor: 'mia@example.com',
  destination: 'https://office.example.com',
  provider: 'https://accounts.google.com',
  scopes: ['https://www.googleapis.com/auth/calendar.readonly', 'https://www.googleapis.com/auth/calendar.events'],
  action: '/connect/tick3t',
  csrf: 'csrf-t0ken',
};

export const backReasons = ['stale', 'denied', 'failed', 'unreachable', 'unfit'] as const satisfies readonly Back['reason'][];

/** The pages of connecting an account. */
export function accountPages(frame: Frame): Readonly<Record<string, string>> {
  return {
    away: renderAway(frame, sampleAway),
    'away-more': renderAway(frame, { ...sampleAway, before: 'narrow' }),
    'away-refused': renderAway(frame, { ...sampleAway, scopes: [], before: 'refused' }),
    'back-partly': renderPartly(frame, { title: 'Google Calendar', missing: ['https://www.googleapis.com/auth/calendar.events'], retryUrl: '/connect/tick3t' }),
    ...Object.fromEntries(
      backReasons.map((reason) => [`back-${reason}`, renderBack(frame, { reason, title: reason === 'stale' ? undefined : 'Google Calendar', code: reason === 'failed' ? 'invalid_scope' : undefined, retryUrl: '/connect/tick3t' })]),
    ),
  };
}

/** Every page. */
export function samplePages(frame: Frame): Readonly<Record<string, string>> {
  return { ...linkPages(frame), ...accountPages(frame), ...personPages(frame) };
}
