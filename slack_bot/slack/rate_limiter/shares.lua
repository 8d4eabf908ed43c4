-- How the replicas divide Slack's budgets among themselves. One call tells all that a replica has, and
-- answers what it may have. KEYS: the replicas, then a record for each of `call.budgets`.
--
-- The shares of a budget make one at most, and nobody's part is open to those who ask. A share moves with the
-- tokens in it, so all parts together are one token bucket. Who has too much is told, gives up itself, and
-- says so with its next call: an answer that is lost loses tokens, and never makes any.
local call = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000

local LEAST_PART = 1 / 8 -- of the rate, after refusals
local RAISE = 1.5
local IDLE = 1 / 4 -- of a budget is divided evenly, the rest by the answers under way
local STEP = 0.02 -- a smaller share is not worth a move
local NEW = 1 / 4 -- at most, for a newcomer while not all are known

local known = redis.call('GET', KEYS[1])
local all = known and cjson.decode(known) or {seen = {}, seq = {}, at = 0, calm_until = 0}
if (all.seq[call.id] or 0) >= call.seq then
  return nil -- it was sent long ago
end
local have_left = known and next(all.seen) == nil -- all of them said what they had, and nobody is unknown
if now - all.at > call.lease and not have_left then
  all.calm_until = now + call.lease -- Redis was away, or has lost its memory: what others have will be told
end
all.at = now
all.seen[call.id], all.seq[call.id] = now, call.seq
local replicas = 0
for id, seen in pairs(all.seen) do
  if now - seen > call.forget_after or (id == call.id and call.leaves) then
    all.seen[id], all.seq[id] = nil, nil
  else
    replicas = replicas + 1
  end
end

local function is_silent(id)
  return now - all.seen[id] > call.lease
end

-- The record: what is open, `free` tokens in it, what refusals have left, and who holds how much. Of a holder
-- that is gone only what it had left when it spoke last is open again: it may have used what grew since then.
-- (One of an older version did not say what it had left.) While it is calm this is kept for `later`. Returns
-- whether there was such a holder.
local function passed_time(record, own)
  local open, returned, is_gone = 1, record.later or 0, false
  for id, holder in pairs(record.holders) do
    open = open - holder.share
    if not all.seen[id] and id ~= call.id then -- who leaves says itself what it has left
      record.holders[id], is_gone = nil, true
      returned = returned + (holder.left or 0)
    end
  end
  open = math.max(0, open)
  record.later = now < all.calm_until and returned or nil
  local since = math.max(record.at, all.calm_until - call.lease) -- an absence is not made good
  local passed = math.max(0, now - since)
  local grown = record.free + passed * open * own.rate * record.part
  record.free = math.min(grown, open * own.burst * record.part) + (record.later and 0 or returned)
  record.at = math.max(record.at, now)
  while record.part < 1 and now - record.quiet_since >= own.recover_after do
    record.quiet_since = record.quiet_since + own.recover_after
    record.part = math.min(1, record.part * RAISE)
  end
  return is_gone
end

-- Refusals that several replicas get together count as one.
local function refused(record, seconds)
  local is_first = now >= record.blocked_until
  if is_first then
    record.part = math.max(LEAST_PART, record.part / 2)
    record.refusals = record.refusals + 1
  end
  record.blocked_until = math.max(record.blocked_until, now + seconds)
  record.quiet_since, record.at, record.free = record.blocked_until, record.blocked_until, 0
  return is_first
end

-- What others hold, and the share that this replica should have.
local function fair_share(record, own)
  local held, silent, present, answers = 0, 0, 1, own.answers
  for id, holder in pairs(record.holders) do
    if id ~= call.id then
      held = held + holder.share
      if is_silent(id) then
        silent = silent + math.max(holder.share, 1 / replicas) -- it goes on with that
      else
        present, answers = present + 1, answers + holder.answers
      end
    end
  end
  local weight = answers > 0 and own.answers / answers or 1 / present
  local fair = math.max(0, 1 - silent) * (IDLE / present + (1 - IDLE) * weight)
  if now < all.calm_until then
    fair = math.min(fair, own.share > 0 and own.share or NEW)
  end
  return held, fair
end

local function settled(key, own)
  local text = redis.call('GET', key)
  local record = text and cjson.decode(text)
    or {free = own.share > 0 and 0 or own.burst, at = now, part = own.part, quiet_since = now - own.quiet_for,
        blocked_until = now + own.blocked_for, refusals = 0, holders = {}}
  if own.leaves then
    own.share, own.returned, own.answers = 0, own.left, 0
  end
  local is_gone = passed_time(record, own)
  local mine = record.holders[call.id] or {refusals = record.refusals}
  local drained = mine.refusals ~= record.refusals
  if own.refused and refused(record, own.blocked_for) then
    drained = false -- its one call after the block is that of all
  end
  local held, fair = fair_share(record, own)
  local open = math.max(0, 1 - held - own.share)
  record.free = math.min(record.free + own.returned, open * own.burst * record.part)
  if now < all.calm_until and own.share > 0 and not record.holders[call.id] then
    record.free, record.later = 0, nil -- the memory was lost: those who spoke first were not the first
  end
  local share, tokens = own.share, 0
  if own.leaves then
    record.holders[call.id] = nil
  else
    if fair > share + STEP and open > 0 then
      local more = math.min(fair - share, open)
      tokens = record.free * more / open
      record.free, share = record.free - tokens, share + more
    end
    record.holders[call.id] = {share = share, answers = own.answers, refusals = record.refusals,
                               left = own.left + tokens}
  end
  local written = cjson.encode(record)
  local has_moved = math.abs(own.left + tokens - (mine.left or 0)) >= 1
  if not text or share ~= mine.share or own.answers ~= mine.answers or has_moved or is_gone or drained
     or own.refused or own.returned > 0 or own.leaves then
    if own.keep_for > 0 then
      redis.call('SET', key, written, 'EX', own.keep_for)
    else
      redis.call('SET', key, written)
    end
  end
  if share > fair + STEP or held + share > 1 + STEP then
    share = math.min(share, fair)
  end
  return {share = share, tokens = tokens, part = record.part, drained = drained,
          blocked_for = math.max(0, record.blocked_until - now),
          quiet_for = math.max(0, now - record.quiet_since)}
end

-- While it is calm, those who have not spoken yet are not counted.
local answer = {replicas = replicas, calm = now < all.calm_until, budgets = {}}
for place, own in ipairs(call.budgets) do
  answer.budgets[place] = settled(KEYS[place + 1], own)
end
redis.call('SET', KEYS[1], cjson.encode(all))
return cjson.encode(answer)
