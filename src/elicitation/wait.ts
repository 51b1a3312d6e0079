/**
 * Waits until a question has been answered, in any process that shares the store. It looks after every
 * wake-up and believes only what it finds, so a wake-up that comes twice or for another reason is harmless,
 * and one that comes between looking and waiting is not lost.
 */
export type Found = 'given' | 'declined' | 'cancelled' | 'over';

export interface Wait {
  /** In milliseconds. */
  readonly limitMs: number;
  /** Calls `wake` whenever it may be worth looking. @returns ends that */
  watch(wake: () => void): () => void;
  /** @returns undefined: not yet */
  look(): Promise<Found | undefined>;
}

/** @returns `over` when the time is over, `gone` when the signal aborted; what `look` throws passes */
export async function waitForAnswer({ limitMs, watch, look }: Wait, signal: AbortSignal): Promise<Found | 'gone'> {
  const time = { isOver: false };
  let woken = Promise.withResolvers<void>();
  const wake = (): void => { woken.resolve(); };
  const timer = setTimeout(() => {
    time.isOver = true;
    wake();
  }, limitMs);
  const unwatch = watch(wake);
  signal.addEventListener('abort', wake);
  try {
    for (;;) {
      woken = Promise.withResolvers();
      if (signal.aborted) return 'gone';
      const isLastLook = time.isOver;
      const found = await look();
      if (found !== undefined || isLastLook) return found ?? 'over';
      await woken.promise;
    }
  } finally {
    clearTimeout(timer);
    unwatch();
    signal.removeEventListener('abort', wake);
  }
}
