import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eraOfHeader, eraOfMessage } from '../../src/protocol/era.ts';

const request = (method: string, params: Readonly<Record<string, unknown>> = {}) => eraOfMessage({ kind: 'request', idText: '1', method, params });
const version = 'io.modelcontextprotocol/protocolVersion';

test('a request that carries its version in _meta is modern, whatever the version is', () => {
  for (const value of ['2026-07-28', '2027-01-01', '', null]) assert.equal(request('tools/call', { _meta: { [version]: value } }), 'modern');
  assert.equal(request('server/discover'), 'modern');
});

test('initialize, responses and everything without a version in _meta are legacy', () => {
  assert.equal(request('initialize', { _meta: { [version]: '2026-07-28' } }), 'legacy');
  for (const params of [{}, { _meta: {} }, { _meta: null }, { _meta: [version] }, { _meta: version }, { [version]: '2026-07-28' }]) assert.equal(request('tools/call', params), 'legacy');
  assert.equal(eraOfMessage({ kind: 'notification', method: 'notifications/initialized', params: {} }), 'legacy');
  assert.equal(eraOfMessage({ kind: 'response' }), 'legacy');
});

test('GET and DELETE are modern if and only if their version is 2026-07-28 or later', () => {
  for (const modern of ['2026-07-28', '2026-12-01', '2099-01-01']) assert.equal(eraOfHeader(modern), 'modern');
  for (const legacy of [undefined, '', '2024-11-05', '2025-11-25', '2026-07-27', 'zzzz-zz-zz', '2026-07-28x', '9']) assert.equal(eraOfHeader(legacy), 'legacy', legacy);
});
