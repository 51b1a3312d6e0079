/**
 * The atomic moves, as scripts that Redis runs by themselves. A value begins with the time of its end, 16
 * digits, which decides whether it is there; Redis' own expiry comes later and only takes out the rest.
 * Beside the values stand two sorted sets, so that a list needs no walk over every key: `index` in the
 * order of the keys, `expiry` in the order of their ends.
 */
import { createHash } from 'node:crypto';

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

export const headLength = 16;

/** KEYS: value, index, expiry. ARGV: now, key, value with its head, milliseconds until Redis may drop it or nothing. */
const prelude = `
local function live()
  local found = redis.call('GET', KEYS[1])
  if found and tonumber(string.sub(found, 1, ${headLength})) > tonumber(ARGV[1]) then return found end
  return false
end
local function write()
  if ARGV[4] == '' then
    redis.call('SET', KEYS[1], ARGV[3])
    redis.call('ZREM', KEYS[3], ARGV[2])
  else
    redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
    redis.call('ZADD', KEYS[3], string.sub(ARGV[3], 1, ${headLength}), ARGV[2])
  end
  redis.call('ZADD', KEYS[2], 0, ARGV[2])
  return 1
end
local function remove()
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('ZREM', KEYS[3], ARGV[2])
end
`;

export const put = script('return write()');
export const putIfAbsent = script('if live() then return 0 end return write()');
/** ARGV[5]: what must stand there, without its head. */
export const compareAndSet = script(`local found = live()
if found and string.sub(found, ${headLength + 1}) == ARGV[5] then return write() end
return 0`);
export const take = script('local found = live() if found then remove() end return found');
export const remove = script('remove() return 1');
/** Beside the usual: ARGV[2] how many at most, ARGV[3] how the values' keys begin. @returns how many it took out */
export const sweep = script(`local over = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, key in ipairs(over) do
  redis.call('DEL', ARGV[3] .. key)
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
end
return #over`);

function script(body: string): Script {
  const text = prelude + body;
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
