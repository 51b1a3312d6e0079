import { createMemoryStore } from '../../src/stores/memory.ts';
import { describeStore } from './suite.ts';

describeStore('memory', async (now) => ({ store: createMemoryStore(now), cleanUp: () => undefined }));
