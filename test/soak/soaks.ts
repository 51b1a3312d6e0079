/** All soaks, in the order in which they run. */
import { hangUps } from './hang-ups.ts';
import { hugeBodies } from './huge-bodies.ts';
import { idleStreams } from './idle-streams.ts';
import { killedWrites } from './killed-writes.ts';
import { longStream } from './long-stream.ts';
import { malformed } from './malformed.ts';
import { refusedRequests } from './refused-requests.ts';
import { slowSenders } from './slow-senders.ts';
import type { Soak } from './soak.ts';
import { storeFaults } from './store-faults.ts';
import { twoUsers } from './two-users.ts';
import { twoUsersStdio } from './two-users-stdio.ts';
import { upstreamRestarts } from './upstream-restarts.ts';

export const soaks: readonly Soak[] = [longStream, twoUsers, twoUsersStdio, storeFaults, upstreamRestarts, idleStreams, slowSenders, hugeBodies, malformed, refusedRequests, hangUps, killedWrites];
