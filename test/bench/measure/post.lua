-- What wrk sends: a POST with a small JSON body, to the paths given after `--` in turn. Prints its result as JSON.
local requests = {}
local at = 0

wrk.method = 'POST'
wrk.headers['content-type'] = 'application/json'
wrk.body = '{"type":"ping","id":"evt_1","text":"hello"}'

function init(paths)
  for index, path in ipairs(paths) do requests[index] = wrk.format(nil, path) end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format(
    '{"requests":%d,"us":%d,"p50Us":%d,"p99Us":%d,"failed":%d,"refused":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failed, summary.errors.status
  ))
end
