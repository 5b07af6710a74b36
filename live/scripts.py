"""What must happen in Valkey in one step."""

# One number per message of a topic. A topic whose publisher brings its own number (a run's seq)
# has the epoch "seq"; any other gets a fresh epoch when its counter is new or when Valkey came
# back from a crash (a counter may then have gone back by up to a second of writes).
_CLAIM = """
local function place(key, boot_key, first_epoch, seconds)
  local boot = redis.call('GET', boot_key) or ''
  local had = redis.call('HMGET', key, 'boot', 'epoch', 'n')
  if had[1] ~= boot then
    had = {boot, first_epoch, '0'}
    redis.call('DEL', key)
    redis.call('HSET', key, 'boot', boot, 'epoch', first_epoch, 'n', 0)
  end
  redis.call('EXPIRE', key, seconds)
  return tonumber(had[3]), had[2]
end

local function claim(key, boot_key, n, fresh, seconds)
  local last, epoch = place(key, boot_key, n and 'seq' or fresh, seconds)
  if not n then n = last + 1 end
  if n > last then redis.call('HSET', key, 'n', string.format('%.0f', n)) end
  return string.format('%.0f', n), epoch
end
"""

# KEYS counter boot · ARGV n-or-empty fresh seconds channel… → n, epoch, readers of each channel.
CLAIM = (
    _CLAIM
    + """
local n, epoch = claim(KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2], ARGV[3])
local answer = {n, epoch}
for i = 4, #ARGV do
  answer[#answer + 1] = redis.call('PUBSUB', 'NUMSUB', ARGV[i])[2]
end
return answer
"""
)

# KEYS counter boot · ARGV fresh seconds → n, epoch of the last message.
PLACE = (
    _CLAIM
    + """
local n, epoch = place(KEYS[1], KEYS[2], ARGV[1], ARGV[2])
return {n, epoch}
"""
)

# KEYS counter boot · ARGV n-or-empty fresh seconds head channel… → n, epoch.
PUBLISH = (
    _CLAIM
    + """
local n, epoch = claim(KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2], ARGV[3])
local text = ARGV[4] .. ',"n":' .. n .. ',"epoch":"' .. epoch .. '"}'
for i = 5, #ARGV do redis.call('PUBLISH', ARGV[i], text) end
return {n, epoch}
"""
)

# KEYS open-blocks text · ARGV block at text seconds message channel… → 1, or 0 when the kept text
# does not end at `at` (Valkey was emptied): the writer then sends all of it with at = 0.
DELTA = """
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[2])
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[1], 'NX', time[1] * 1000000 + time[2], ARGV[1])
elseif redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[2]) then
  return 0
end
redis.call('APPEND', KEYS[2], ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4])
for i = 6, #ARGV do redis.call('PUBLISH', ARGV[i], ARGV[5]) end
return 1
"""

# KEYS open-blocks text · ARGV block message channel…: its partial text may go, here and in tabs.
END_BLOCK = """
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
for i = 3, #ARGV do redis.call('PUBLISH', ARGV[i], ARGV[2]) end
"""

# KEYS counter boot open-blocks · ARGV the beginning of the texts' keys → epoch and n, both empty
# when they are from another life of Valkey, then the open blocks with their text.
WHERE = """
local had = redis.call('HMGET', KEYS[1], 'boot', 'epoch', 'n')
local answer = {had[2] or '', had[3] or '0'}
if had[1] ~= (redis.call('GET', KEYS[2]) or '') then answer = {'', '0'} end
for _, block in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  local text = redis.call('GET', ARGV[1] .. block)
  if text then
    answer[#answer + 1] = block
    answer[#answer + 1] = text
  end
end
return answer
"""

_NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""

# KEYS expiries rows · ARGV ttl-ms, then member, row, … → how many rows are new or differ.
# A row with a smaller "v" than the stored one is late news and changes nothing.
PUT = (
    _NOW
    + """
local changed = 0
for i = 2, #ARGV, 2 do
  local member, row = ARGV[i], ARGV[i + 1]
  local old = redis.call('HGET', KEYS[2], member)
  local score = tonumber(redis.call('ZSCORE', KEYS[1], member) or '0')
  local late = old and score > now and cjson.decode(old).v > cjson.decode(row).v
  if not late then
    if old ~= row or score <= now then changed = changed + 1 end
    redis.call('HSET', KEYS[2], member, row)
    redis.call('ZADD', KEYS[1], now + ARGV[1], member)
  end
end
redis.call('PEXPIRE', KEYS[1], 86400000)
redis.call('PEXPIRE', KEYS[2], 86400000)
return changed
"""
)

# KEYS expiries · ARGV ttl-ms member…: these end in that time, if not said otherwise.
LINGER = (
    _NOW
    + """
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[1], ARGV[i]) end
"""
)

# KEYS expiries → how many rows have run out and wait to be taken away.
EXPIRED = _NOW + "return redis.call('ZCOUNT', KEYS[1], '-inf', now)"

_ROWS = (
    _NOW
    + """
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  redis.call('ZREM', KEYS[1], member)
  redis.call('HDEL', KEYS[2], member)
end
local rows = redis.call('HVALS', KEYS[2])
"""
)

# KEYS expiries rows → the rows that are alive.
ROWS = _ROWS + "return rows"

# KEYS expiries rows gate dirty · ARGV window-ms rows-per-window → false (somebody fanned out a
# moment ago; it is noted that more has happened since) or the rows that are alive. A large crowd
# gets a wider window, so that the bytes a second stay bounded.
GATE = (
    """
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('SET', KEYS[4], 1, 'PX', 60000)
  return false
end
"""
    + _ROWS
    + """
local window = ARGV[1] * math.max(1, math.ceil(#rows / ARGV[2]))
redis.call('SET', KEYS[3], 1, 'PX', string.format('%.0f', window))
redis.call('DEL', KEYS[4])
return rows
"""
)
