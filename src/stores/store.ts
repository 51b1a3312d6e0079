/**
 * The store port: bytes at rest, nothing about secrets. A key that is not there answers `undefined` or
 * `false`; a store that could not look throws UnavailableError, and no caller may take one for the other.
 * Every move is atomic by itself. Times are milliseconds; a record without `ttlMs` stays until deleted.
 */
export interface Store {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, value: Uint8Array, ttlMs?: number): Promise<void>;
  /** Writes only where nothing live stands; says whether it wrote. */
  putIfAbsent(key: string, value: Uint8Array, ttlMs?: number): Promise<boolean>;
  /** Writes only where exactly `expected` stands; says whether it wrote. */
  compareAndSet(key: string, expected: Uint8Array, value: Uint8Array, ttlMs?: number): Promise<boolean>;
  /** Reads and removes in one move: of several takers one gets the value. */
  take(key: string): Promise<Uint8Array | undefined>;
  delete(key: string): Promise<void>;
  /** Live records whose key begins with `prefix`, in key order; all of them, or one page. */
  list(prefix: string, page?: Page): Promise<readonly StoredRecord[]>;
  /**
   * Takes a lock that ends by itself after `ttlMs`. It keeps others from beginning; what it guards must still be
   * written by `compareAndSet`, because a holder that is slow may have lost it.
   * @returns gives it back, which does nothing once somebody else holds it; undefined while somebody else holds it
   */
  lock(key: string, ttlMs: number): Promise<(() => Promise<void>) | undefined>;
  /** Tells every subscriber of `channel`, in every process that shares the store, that something changed. */
  publish(channel: string, message?: string): Promise<void>;
  /** Calls `listener` after each publish; the answer ends the subscription. */
  subscribe(channel: string, listener: Listener): () => void;
  /** Throws UnavailableError when the store cannot be read and written. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface StoredRecord {
  readonly key: string;
  readonly value: Uint8Array;
  /** Milliseconds since the epoch; absent: it stays until deleted. */
  readonly expiresAt?: number;
}

/** At most `limit` records whose key comes after `after`. */
export interface Page {
  readonly after: string;
  readonly limit: number;
}

/** @param message as it was published; undefined: messages may have been missed, so anything may have changed */
export type Listener = (message: string | undefined) => void;

/** Milliseconds since the epoch; an argument everywhere, so that tests move time. */
export type Clock = () => number;
