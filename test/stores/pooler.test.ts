/** PostgreSQL behind PgBouncer in transaction mode: nothing is kept in a connection, so nothing is missing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { openPostgresStore } from '../../src/stores/postgres/postgres.ts';
import { findProgram, skipWithout, type DatabaseServer } from '../kit/database-server.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { describeStore } from './suite.ts';

const pgbouncer = findProgram('pgbouncer', ['/usr/sbin']);
const skip = skipWithout('postgresql', findPostgres()) || skipWithout('pgbouncer', pgbouncer);

describe('behind PgBouncer', { skip }, () => {
  let server: DatabaseServer;
  let url = '';
  let stop: () => Promise<unknown>;
  let namespace = 0;
  before(async () => {
    server = await startPostgres(['fsync=off']);
    const folder = mkdtempSync(join(tmpdir(), 'elicitgate-pooler-'));
    const port = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    // Two connections for everybody, so that they really change hands.
    writeFileSync(
      file,
      `[databases]
postgres = user=elicitgate host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`,
    );
    const asRoot = process.getuid?.() === 0;
    if (asRoot) for (const path of [folder, file]) chownSync(path, 65_534, 65_534);
    const child = spawn(pgbouncer ?? '', [...(asRoot ? ['-u', 'nobody'] : []), file], { stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const line of createInterface({ input: child.stderr })) if (line.includes('process up')) break;
    child.stderr.resume();
    url = server.url.replace(String(server.port), String(port));
    stop = async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    };
  });
  after(async () => {
    await stop();
    await server.close();
  });

  describeStore('PostgreSQL behind PgBouncer', async (now) => {
    namespace += 1;
    const open = () => openPostgresStore({ url, namespace: `n${namespace}`, pool: 5 }, now);
    return { store: await open(), other: open, cleanUp: () => undefined };
  });
});
