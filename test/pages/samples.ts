/** One of every page, as the tests and the screenshots show them. */
import {
  renderAlreadyDone,
  renderDeclined,
  renderDone,
  renderEntry,
  renderExpired,
  renderProblem,
} from '../../src/pages/views.ts';
import type { Entry, Frame, ProblemReason } from '../../src/pages/views.ts';

export const problemReasons = [
  'not-found',
  'forbidden-origin',
  'too-many',
  'unavailable',
  'not-local',
  'too-large',
  'bad-request',
] as const satisfies readonly ProblemReason[];

export function sampleFrame(language: string): Frame {
  return {
    language,
    siteName: 'Example Inc.',
    support: 'mailto:it@example.com',
    links: [{ title: 'Privacy', url: 'https://example.com/privacy' }],
    languages: [
      { code: 'en', name: 'English', href: '?lang=en' },
      { code: 'de', name: 'Deutsch', href: '?lang=de' },
    ],
    account: 'mia@example.com',
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

/** Every view, by the name that its screenshot gets. */
export function samplePages(frame: Frame): Readonly<Record<string, string>> {
  const form = { action: '/connect/tick3t', csrf: 'csrf-t0ken' };
  return {
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
