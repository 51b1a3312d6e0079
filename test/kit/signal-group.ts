/** Signals a process group, as src/main.ts does. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of it is left.
  }
}
