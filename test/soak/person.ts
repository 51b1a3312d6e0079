/** People whom a proxy in front names: they call, are asked, and give their keys on the page. */
import assert from 'node:assert/strict';
import { linkIn, post, toolCall, type Answer } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';
import type { Served } from './served.ts';

const proxySecret = planted('proxy-secret-of-the-soak-5d21');

export const namedPeople = `identity: { proxyHeaders: { user: X-User, issuer: "https://sso.example.com", secretHeader: X-Proxy-Secret, secret: ${proxySecret} } }`;

export function headersOf(person: string): Readonly<Record<string, string>> {
  return { 'X-User': person, 'X-Proxy-Secret': proxySecret };
}

/** Calls the tool that needs a key; the person stands in its arguments. */
export function callPaid({ url }: Pick<Served, 'url'>, person: string, args: object = {}): Promise<Answer> {
  return post(url, toolCall('paid', { person, ...args }), headersOf(person));
}

/** Gives a key for the first time. @throws unless the page said that it is stored */
export async function giveKey(served: Pick<Served, 'url'>, person: string, token: string): Promise<void> {
  await submit(person, linkIn((await callPaid(served, person)).text), token);
}

/** Gives another key, from the account page. @throws unless the page said that it is stored */
export async function replaceKey({ origin }: Pick<Served, 'origin'>, person: string, token: string): Promise<void> {
  const headers = headersOf(person);
  const web = createWebVisitor();
  const csrf = /name="csrf" value="([^"]*)"/.exec((await web.open(`${origin}/account`, headers)).html)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, upstream: 'main', credential: 'key', action: 'connect' });
  const location = (await web.ask(`${origin}/account`, { method: 'POST', body, headers })).headers.get('location') ?? '';
  await submit(person, new URL(location, origin).href, token);
}

async function submit(person: string, link: string, token: string): Promise<void> {
  const headers = headersOf(person);
  const web = createWebVisitor();
  const { status, html } = await web.submit(await web.open(link, headers), { token, action: 'give' }, headers);
  assert.equal(status, 200, html);
}
