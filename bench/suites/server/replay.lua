-- Replays requests that were signed before, each once: a file of requests that all have the same length.
-- Arguments: the file, the length of one, and "once" or "again".
local requests, length, again = "", 0, false
local position = 0
exhausted = false

local threads = {}
function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  requests = file:read("*a")
  file:close()
  length = tonumber(args[2])
  again = args[3] == "again"
end

function request()
  if position >= #requests then
    -- A request that comes a second time is a duplicate, which is another thing to measure.
    if not again then exhausted = true end
    position = 0
  end
  local next = requests:sub(position + 1, position + length)
  position = position + length
  return next
end

-- One line of JSON, the last that is printed. Latencies in microseconds, with how many there were of each.
function done(summary, latency, requests)
  local errors = summary.errors
  local values = {}
  for index = 1, #latency do
    local value, count = latency(index - 1)
    values[index] = string.format("[%d,%d]", value, count)
  end
  print(string.format(
    '{"requests":%d,"elapsedUs":%d,"refused":%d,"broken":%d,"exhausted":%s,"latencies":[%s]}',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    tostring(threads[1]:get("exhausted")), table.concat(values, ",")))
end
