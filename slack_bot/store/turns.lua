-- What has to happen to turns in one step. KEYS[1]: the prefix of all keys, so that they lie on one node.
-- ARGV: the action, and its arguments as JSON.
--
-- PREFIX turn:KEY         hash: data, messages (how many) and m0, m1, ..., ts, thread, accepted_at, push, entry
--                         (its place in the queue), saved (the replica that wrote it last, and the number of
--                         that write there), fence (the number of the lease under which it may be
--                         written), holder (the last replica that had it), left_at (since when it is left,
--                         where a replica had too many to take it)
-- PREFIX unfinished       sorted set of turns, in the order of acceptance; `accepted` counts them
-- PREFIX ended            sorted set of turns by the time at which they may be removed
-- PREFIX thread:THREAD    set of the thread's turns
-- PREFIX threads, latest  sorted set of threads by their last question; hash of its ts
-- PREFIX queue            stream of turns, read by the group `bots`: what a replica has to see to is pending there
-- PREFIX lease:THREAD     "replica number", until it expires; `fence:THREAD` is the last number
-- PREFIX inbox:REPLICA    stream of signals; what it has not seen to goes to who takes its threads over
-- PREFIX left             stream of signals to all: a thread is left, by a replica that ends or by one that has
--                         taken its part
-- PREFIX looks            sorted set of the replicas that take over, by when each looked last for what is left
-- PREFIX connected        JSON: when a replica was connected to Slack last, and who looks for what came meanwhile
-- PREFIX push             hash: where the agents of watched tasks post, and the turns
-- PREFIX record:NAME:KEY  a record of a collection, as JSON (redis_collections.py); of_thread, of_person, due:
--                         sorted sets by which records are found; `hold` names the replica that works on one
-- PREFIX primary        which server this is, as whoever connects by way of Sentinels writes first of all
--                         (redis_sentinel.py); `primaries` counts the others before it
-- PREFIX migrating        the older format, as long as something of it is left (redis_migration.py)
-- PREFIX events:TURN      list of raw events of the agent, each a time and the event, as JSON
local PREFIX, QUEUE, GROUP = KEYS[1], KEYS[1] .. 'queue', 'bots'
local FENCE_AGE = 7 * 24 * 3600 -- seconds: no process sleeps longer
local INBOX_AGE, INBOX_LENGTH = 3600, 1000
local SIGNALS = 1 -- the version of the signals of this script
local AT_ONCE = 100
local LOOKS_WITHIN = 1 / 2 -- of a lease: who looks for what is left does so several times in that time
local LATE = 1 / 3 -- of a lease: what the others have not taken by then is taken by whoever looks
local PENDING_AT_ONCE = 10000
local LEASES = 1000000 -- the numbers that a thread's leases may have before the next failover
local NOBODY = 'nobody' -- what a replica left in order waits in its name for whoever looks next
local call, args = redis.call, cjson.decode(ARGV[2])

local function key(kind, name)
  return PREFIX .. kind .. ':' .. name
end

local function now()
  local time = call('TIME')
  return time[1] + time[2] / 1000000
end

local function off_the_queue(turn)
  local entry = call('HGET', turn, 'entry')
  if entry then
    redis.pcall('XACK', QUEUE, GROUP, entry) -- without its memory Redis has no group
    call('XDEL', QUEUE, entry)
  end
end

local function create_group()
  redis.pcall('XGROUP', 'CREATE', QUEUE, GROUP, '0', 'MKSTREAM')
end

local function forget_push(turn)
  local push = call('HGET', turn, 'push')
  if push then
    call('HDEL', PREFIX .. 'push', push)
  end
end

local function forget(name)
  local turn = key('turn', name)
  off_the_queue(turn)
  forget_push(turn)
  local thread = call('HGET', turn, 'thread')
  if thread then
    call('SREM', key('thread', thread), name)
  end
  call('ZREM', PREFIX .. 'unfinished', name)
  call('ZREM', PREFIX .. 'ended', name)
  call('DEL', turn, key('events', name))
end

local function lease_of(thread)
  local held = call('GET', key('lease', thread))
  if held then
    local holder, fence = string.match(held, '^(%S+) (%d+)$')
    return holder, tonumber(fence)
  end
end

local function signal_to(stream, thread, kind, values, version)
  local told = {version = version or SIGNALS, thread = thread, kind = kind, values = values}
  local text = cjson.encode(told)
  call('XADD', stream, 'MAXLEN', '~', INBOX_LENGTH, '*', 'signal', text)
  call('EXPIRE', stream, INBOX_AGE)
end

local function signal(holder, thread, kind, values, version)
  signal_to(key('inbox', holder), thread, kind, values, version)
end

local function take_signals(before, thread, replica)
  local inbox = key('inbox', before)
  for _, entry in ipairs(call('XRANGE', inbox, '-', '+')) do
    local known = cjson.decode(entry[2][2])
    if known.thread == thread then
      signal(replica, thread, known.kind, known.values, known.version)
      call('XDEL', inbox, entry[1])
    end
  end
end

local function leave_to_all(entry)
  call('XCLAIM', QUEUE, GROUP, NOBODY, 0, entry, 'IDLE', 2 * args.lease, 'JUSTID')
end

-- `idle`: since when the lease was not renewed, in ms.
local function give(entry, holder, idle)
  call('XCLAIM', QUEUE, GROUP, holder, 0, entry, 'IDLE', idle, 'JUSTID')
end

local function alive()
  local text = call('GET', PREFIX .. 'alive')
  return text and cjson.decode(text) or {at = 0, calm_until = 0}
end

local function begins_calm(known, at)
  return at - known.at > args.lease / 1000 or (known.primary or '') ~= (call('GET', PREFIX .. 'primary') or '')
end

-- Who renews tells the time of all: after an absence of Redis nobody's lease has run out before it could. After a
-- failover the leases that were given last may be missing, until those who have them say so.
local function is_calm()
  local known, at = alive(), now()
  if begins_calm(known, at) then
    known.calm_until = at + args.calm / 1000
  end
  known.at, known.primary = at, call('GET', PREFIX .. 'primary') or ''
  call('SET', PREFIX .. 'alive', cjson.encode(known))
  return at < known.calm_until
end

-- Where a lease may be missing: whoever is responsible for another turn of the thread may have it.
local function may_hold(thread, name)
  local known, at = alive(), now()
  if known.at == 0 or (at >= known.calm_until and not begins_calm(known, at)) then
    return nil
  end
  for _, other in ipairs(call('SMEMBERS', key('thread', thread))) do
    if other ~= name and call('ZSCORE', PREFIX .. 'unfinished', other) then
      local entry = call('HGET', key('turn', other), 'entry')
      local pending = entry and call('XPENDING', QUEUE, GROUP, entry, entry, 1)[1]
      if pending and pending[2] ~= args.replica and pending[2] ~= NOBODY then
        return pending[2]
      end
    end
  end
end

-- After a failover a number that was given last may be missing: it is not given again.
local function next_fence(thread)
  local fence = call('INCR', key('fence', thread))
  local least = LEASES * tonumber(call('GET', PREFIX .. 'primaries') or 0)
  if fence <= least then
    fence = least + 1
    call('SET', key('fence', thread), fence)
  end
  call('EXPIRE', key('fence', thread), FENCE_AGE)
  return fence
end

local actions = {}

function actions.open()
  create_group()
  local known, at = tonumber(call('GET', PREFIX .. 'version') or 0), now()
  if known < args.version then
    local alive = call('GET', PREFIX .. 'alive')
    if known > 0 and alive and at - cjson.decode(alive).at < args.lease / 1000 then
      return -known -- replicas of an older version are at work
    end
    if known > 0 then
      call('SET', PREFIX .. 'migrating', known)
    end
  end
  call('SET', PREFIX .. 'version', math.max(known, args.version)) -- in any case: a replica refuses a write
  return known
end

local function add(turn)
  local name = key('turn', turn.key)
  forget(turn.key)
  create_group()
  local entry = call('XADD', QUEUE, '*', 'turn', turn.key)
  call('XREADGROUP', 'GROUP', GROUP, args.replica, 'STREAMS', QUEUE, '>') -- whoever accepts it sees to it
  call('HSET', name, 'data', turn.data, 'thread', turn.thread, 'entry', entry, 'messages', 0, 'ts', '',
       'accepted_at', string.format('%.17g', turn.accepted_at))
  call('ZADD', PREFIX .. 'unfinished', call('INCR', PREFIX .. 'accepted'), turn.key)
  call('SADD', key('thread', turn.thread), turn.key)
  local last = call('ZSCORE', PREFIX .. 'threads', turn.thread)
  if not last or tonumber(last) <= turn.accepted_at then
    call('ZADD', PREFIX .. 'threads', string.format('%.17g', turn.accepted_at), turn.thread)
    call('HSET', PREFIX .. 'latest', turn.thread, turn.asked_ts)
  end
end

function actions.accept()
  local before = call('HGET', key('turn', args.key), 'accepted_at')
  if before and tonumber(before) > args.accepted_at - args.dedupe_age then
    return 0
  end
  add(args)
  return 1
end

function actions.withdraw()
  forget(args.key)
end

-- A change begins at a message that may be missing here, after a failover: then all of it is wanted.
local function write(turn, change)
  local stored = tonumber(call('HGET', turn, 'messages'))
  if stored < change.unchanged then
    return false
  end
  for number = change.unchanged, stored - 1 do
    call('HDEL', turn, 'm' .. number)
  end
  for place, message in ipairs(change.messages) do
    call('HSET', turn, 'm' .. (change.unchanged + place - 1), message)
  end
  call('HSET', turn, 'data', change.data, 'ts', change.ts, 'messages', change.unchanged + #change.messages,
       'saved', args.replica .. ' ' .. (change.number or 0))
  if change.push ~= '' then
    call('HSET', turn, 'push', change.push)
    call('HSET', PREFIX .. 'push', change.push, change.key)
  end
  if change.remove_at > 0 then
    forget_push(turn)
    call('ZREM', PREFIX .. 'unfinished', change.key)
    call('ZADD', PREFIX .. 'ended', string.format('%.17g', change.remove_at), change.key)
    off_the_queue(turn)
  end
  return true
end

-- Returns the turns that this replica may not write any more, and those of which it has to write all.
function actions.save()
  local refused, wanted = {}, {}
  for _, change in ipairs(args.changes) do
    local turn = key('turn', change.key)
    local known = call('HMGET', turn, 'messages', 'fence')
    if known[1] and change.fence < tonumber(known[2] or 0) then
      table.insert(refused, change.key)
    elseif known[1] and not write(turn, change) then
      table.insert(wanted, change.key)
    end
  end
  return {refused, wanted}
end

-- Those of `keys` that nothing is known of.
function actions.missing()
  local missing = {}
  for _, name in ipairs(args.keys) do
    if call('HEXISTS', key('turn', name), 'accepted_at') == 0 then
      table.insert(missing, name)
    end
  end
  return missing
end

-- What this replica has of its turns, where Redis may have lost the last writes. A turn that is there is written if
-- it has its lease. Returns the turns that were not there, those that it may not write any more, and those that it
-- has written since: what it has of them now is wanted.
function actions.write_again()
  local added, refused, newer = {}, {}, {}
  for _, change in ipairs(args.changes) do
    local turn = key('turn', change.key)
    local is_new = call('HEXISTS', turn, 'accepted_at') == 0
    if is_new then
      add(change)
      table.insert(added, change.key)
    end
    local known = call('HMGET', turn, 'messages', 'fence', 'saved')
    local writer, number = string.match(known[3] or '', '^(%S+) (%d+)$')
    local is_newer = writer == args.replica and tonumber(number) > change.number
    if not is_new and known[1] and change.fence < tonumber(known[2] or 0) then
      table.insert(refused, change.key)
    elseif known[1] and is_newer then
      table.insert(newer, change.key)
    elseif known[1] and (is_new or change.fence > 0) then
      write(turn, change)
      if change.fence > 0 then
        call('HSET', turn, 'fence', change.fence, 'holder', args.replica)
      end
    end
  end
  return {added, refused, newer}
end

function actions.messages_in()
  local found = {}
  for _, name in ipairs(call('SMEMBERS', key('thread', args.thread))) do
    for ts in string.gmatch(call('HGET', key('turn', name), 'ts') or '', '%S+') do
      table.insert(found, { ts, name })
    end
  end
  return found
end

function actions.remove_old()
  local old = call('ZRANGEBYSCORE', PREFIX .. 'ended', '-inf', args.now, 'LIMIT', 0, AT_ONCE)
  for _, name in ipairs(old) do
    forget(name)
  end
  local threads = call('ZRANGEBYSCORE', PREFIX .. 'threads', '-inf', args.threads_before, 'LIMIT', 0, AT_ONCE)
  for _, thread in ipairs(threads) do
    call('ZREM', PREFIX .. 'threads', thread)
    call('HDEL', PREFIX .. 'latest', thread)
  end
  for _, consumer in ipairs(call('XINFO', 'CONSUMERS', QUEUE, GROUP)) do
    local name, pending, idle = consumer[2], consumer[4], consumer[6]
    if pending == 0 and idle >= 1000 * args.replica_age then
      call('XGROUP', 'DELCONSUMER', QUEUE, GROUP, name)
    end
  end
  return math.max(#old, #threads)
end

-- Returns the number under which the turn may be written, and its fields. Nothing: it has ended, or the thread
-- is another's, who is told. `let_go`: a lease that this replica has let go of, which may be heard only later.
function actions.claim()
  local turn = key('turn', args.key)
  if not call('ZSCORE', PREFIX .. 'unfinished', args.key) then
    return nil
  end
  local known = call('HMGET', turn, 'thread', 'entry', 'holder')
  local thread, entry, before = known[1], known[2], known[3]
  local holder, fence = lease_of(thread)
  local other = not holder and may_hold(thread, args.key)
  if other then
    holder, fence = other, call('HGET', turn, 'fence') or 0
  elseif not holder or (holder == args.replica and fence == args.let_go) then
    holder, fence = args.replica, next_fence(thread)
    call('SET', key('lease', thread), holder .. ' ' .. fence, 'PX', args.lease)
  end
  if before and before ~= holder then
    take_signals(before, thread, holder)
  end
  call('HSET', turn, 'fence', fence, 'holder', holder)
  call('HDEL', turn, 'left_at')
  give(entry, holder, 0)
  if holder == args.replica then
    return {fence, call('HGETALL', turn)}
  end
  signal(holder, thread, 'question', {turn = args.key})
end

-- All turns that wait for somebody: their replica is gone, or has not begun them. A thread in which nothing is
-- shown yet comes first.
local function orphans()
  local found, ranks, calm = {}, {}, is_calm()
  for place, pending in ipairs(call('XPENDING', QUEUE, GROUP, 'IDLE', args.lease, '-', '+', PENDING_AT_ONCE)) do
    local entry, consumer = pending[1], pending[2]
    local read = call('XRANGE', QUEUE, entry, entry)[1]
    local name = read and read[2][2]
    local known = name and call('HMGET', key('turn', name), 'thread', 'messages')
    local thread = known and known[1]
    local holder = thread and lease_of(thread)
    if not thread then
      call('XACK', QUEUE, GROUP, entry)
      call('XDEL', QUEUE, entry)
    elseif holder and holder == consumer then
      give(entry, holder, math.max(0, args.lease - call('PTTL', key('lease', thread))))
    elseif consumer == NOBODY or not calm then
      ranks[thread] = ranks[thread] or (tonumber(known[2] or 0) > 0 and PENDING_AT_ONCE or 0) + place
      local is_own = consumer == args.replica
      table.insert(found, {entry = entry, name = name, thread = thread, place = place, is_own = is_own})
    end
  end
  table.sort(found, function(one, other)
    local rank, beside = ranks[one.thread], ranks[other.thread]
    return rank < beside or (rank == beside and one.place < other.place)
  end)
  return found
end

-- How many turns this replica lacks until it has as many as the others.
local function lacking()
  local at, within = now(), args.lease / 1000 * LOOKS_WITHIN
  call('ZADD', PREFIX .. 'looks', string.format('%.17g', at), args.replica)
  call('ZREMRANGEBYSCORE', PREFIX .. 'looks', '-inf', string.format('(%.17g', at - within))
  local pending = call('XPENDING', QUEUE, GROUP)
  local own = 0
  for _, consumer in ipairs(pending[4] or {}) do
    if consumer[1] == args.replica then
      own = tonumber(consumer[2])
    end
  end
  return math.ceil(pending[1] / call('ZCARD', PREFIX .. 'looks')) - own
end

-- Returns those of them that are this replica's part: with them it has as many turns as the others. The others
-- are told of the rest; what nobody has taken in time is for whoever looks.
function actions.left()
  create_group()
  local taken, threads, rest = {}, {}, nil
  local room, at = lacking(), now()
  for _, orphan in ipairs(orphans()) do
    local turn = key('turn', orphan.name)
    local since = tonumber(call('HGET', turn, 'left_at') or at)
    local is_late = at - since >= LATE * args.lease / 1000
    if room > 0 or orphan.is_own or threads[orphan.thread] or is_late then
      give(orphan.entry, args.replica, 0)
      table.insert(taken, orphan.name)
      threads[orphan.thread], room = true, room - (orphan.is_own and 0 or 1)
    else
      call('HSET', turn, 'left_at', string.format('%.17g', since))
      rest = orphan.thread
    end
  end
  if rest and #taken > 0 then
    signal_to(PREFIX .. 'left', rest, 'left', {})
  end
  return taken
end

-- Slack reaches this replica. Returns 1 if it is to look for what came while Slack reached none, until it has:
-- another one does where this one is gone before.
function actions.connected()
  local text, at = call('GET', PREFIX .. 'connected'), now()
  local known = text and cjson.decode(text) or {at = 0, is_due = true, by = '', by_at = 0}
  if at - known.at > args.gap then
    known.is_due, known.by = true, ''
  end
  if args.has_looked and known.by == args.replica then
    known.is_due, known.by = false, ''
  elseif known.is_due and at - known.by_at > args.lease / 1000 then
    known.by = args.replica
  end
  known.at = at
  if known.by == args.replica then
    known.by_at = at
  end
  call('SET', PREFIX .. 'connected', cjson.encode(known))
  return known.by == args.replica and 1 or 0
end

-- Returns whether the memory was lost, and the threads that another replica has taken.
function actions.renew()
  is_calm()
  local lost = {actions.open() == 0 and 1 or 0}
  for _, own in ipairs(args.held) do
    local holder, fence = lease_of(own.thread)
    local last = tonumber(call('GET', key('fence', own.thread)) or 0)
    if last > own.fence or (holder and holder ~= args.replica) then
      table.insert(lost, own.thread)
    else
      call('SET', key('lease', own.thread), args.replica .. ' ' .. own.fence, 'PX', args.lease)
      call('SET', key('fence', own.thread), own.fence, 'EX', FENCE_AGE)
    end
  end
  return lost
end

function actions.let_go()
  local holder, fence = lease_of(args.thread)
  if holder ~= args.replica or fence ~= args.fence then
    return
  end
  call('DEL', key('lease', args.thread))
  local is_left = false
  for _, name in ipairs(call('SMEMBERS', key('thread', args.thread))) do
    local entry = call('HGET', key('turn', name), 'entry')
    if entry and call('ZSCORE', PREFIX .. 'unfinished', name) then
      leave_to_all(entry)
      is_left = true
    end
  end
  if args.ends then
    call('ZREM', PREFIX .. 'looks', args.replica)
  end
  if is_left and args.ends then
    signal_to(PREFIX .. 'left', args.thread, 'left', {})
  end
end

-- What this replica accepted and did not claim is there for all. A signal that it does not know waits in its inbox
-- for who takes the thread over.
function actions.leave()
  call('ZREM', PREFIX .. 'looks', args.replica)
  for _, pending in ipairs(call('XPENDING', QUEUE, GROUP, '-', '+', INBOX_LENGTH, args.replica)) do
    leave_to_all(pending[1])
  end
  if call('XLEN', key('inbox', args.replica)) == 0 then
    call('DEL', key('inbox', args.replica))
  end
end

-- Where the replica of a thread is gone, whoever takes its turn over gets the signal.
function actions.signal()
  local holder = lease_of(args.thread)
  for _, name in ipairs(holder and {} or call('SMEMBERS', key('thread', args.thread))) do
    if call('ZSCORE', PREFIX .. 'unfinished', name) then
      holder = call('HGET', key('turn', name), 'holder') or holder
    end
  end
  if not holder or holder == args.replica then
    return 0
  end
  signal(holder, args.thread, args.kind, args.values, args.signal_version)
  return 1
end

function actions.save_events()
  for _, event in ipairs(args.events) do
    if call('HEXISTS', key('turn', event.turn), 'data') == 1 then
      call('RPUSH', key('events', event.turn), event.data)
    end
  end
end

-- Of turns that have ended only the acceptance is kept, as long as Slack may bring the question again. Returns
-- those that have not.
function actions.erase()
  local left = {}
  for _, name in ipairs(args.turns) do
    local turn = key('turn', name)
    local known = call('HMGET', turn, 'accepted_at', 'thread')
    local accepted_at, thread = known[1], known[2]
    if call('ZSCORE', PREFIX .. 'unfinished', name) then
      table.insert(left, name)
    elseif accepted_at then
      forget(name)
      call('HSET', turn, 'accepted_at', accepted_at)
      call('ZADD', PREFIX .. 'ended', string.format('%.17g', accepted_at + args.dedupe_age), name)
      if thread and call('EXISTS', key('thread', thread)) == 0 then
        call('ZREM', PREFIX .. 'threads', thread)
        call('HDEL', PREFIX .. 'latest', thread)
      end
    end
  end
  return left
end

return actions[ARGV[1]]()
