import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, isLoopbackHost, parseAddress, parseNetwork } from '../../src/config/address.ts';

test('Addresses are a host and a port, IPv6 in brackets', () => {
  assert.deepEqual(parseAddress('127.0.0.1:8080'), { ok: true, value: { host: '127.0.0.1', port: 8080 } });
  assert.deepEqual(parseAddress('localhost:0'), { ok: true, value: { host: 'localhost', port: 0 } });
  assert.deepEqual(parseAddress('[::1]:8080'), { ok: true, value: { host: '::1', port: 8080 } });
  assert.equal(formatAddress({ host: '::1', port: 8080 }), '[::1]:8080');
});

test('What has no port, no host or no valid address is refused', () => {
  for (const text of ['', '8080', ':8080', 'localhost', '::1:8080', '[::1]', '[x]:1', '1.2.3:80', '1.2.3.256:80', 'a b:80', 'a:65536', 'http://a:80', 'a:80/']) {
    assert.equal(parseAddress(text).ok, false, text);
  }
});

test('Only this machine is loopback', () => {
  for (const host of ['localhost', 'LOCALHOST', 'app.localhost', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '::ffff:127.0.0.1']) {
    assert.equal(isLoopbackHost(host), true, host);
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com', 'example.com', '128.0.0.1', '']) {
    assert.equal(isLoopbackHost(host), false, host);
  }
});

test('Networks are addresses with or without a prefix length', () => {
  for (const text of ['10.0.0.0/8', '192.168.1.1', 'fd00::/8', '::1']) assert.equal(parseNetwork(text).ok, true, text);
  for (const text of ['', '10', '10.0.0.0/33', 'example.com', '10.0.0.0/8/8', 'uniquelocal']) assert.equal(parseNetwork(text).ok, false, text);
});
