/**
 * Loaded into a measured process (`node --expose-gc --import …`): answers each IPC message with the
 * process's memory, after collecting garbage. It never keeps the process alive.
 */
process.on('message', () => {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rss, heapUsed });
});
process.channel?.unref();
