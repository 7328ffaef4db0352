-- For wrk: posts MCP requests (2026-07-28, stateless) in turn and reads every answer. Arguments: a file with a line
-- "TOOL<tab>BODY" for each request, and a bearer token or "-".

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  requests, turn, right, wrong, example = {}, 0, 0, 0, ""
  for line in io.lines(args[1]) do
    local tool, body = line:match("^(.-)\t(.*)$")
    local headers = {
      ["Content-Type"] = "application/json",
      ["Accept"] = "application/json, text/event-stream",
      ["MCP-Protocol-Version"] = "2026-07-28",
      ["Mcp-Method"] = "tools/call",
      ["Mcp-Name"] = tool,
    }
    if args[2] ~= "-" then
      headers["Authorization"] = "Bearer " .. args[2]
    end
    table.insert(requests, wrk.format("POST", "/mcp", headers, body))
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

-- Right is a 200 with the result of a call that did not fail.
function response(status, headers, body)
  if status == 200 and body:find('"result"', 1, true) and not body:find('"isError":true', 1, true) then
    right = right + 1
  else
    wrong = wrong + 1
    example = status .. " " .. body:sub(1, 300)
  end
end

function done(summary, latency)
  local right, wrong, example = 0, 0, ""
  for _, thread in ipairs(threads) do
    right, wrong = right + thread:get("right"), wrong + thread:get("wrong")
    if thread:get("example") ~= "" then example = thread:get("example") end
  end
  local errors = summary.errors
  io.write(string.format("figures %d %d %d %d %d %d\n", right, wrong + errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration, latency:percentile(50), latency:percentile(99), latency.max))
  if example ~= "" then io.write("example " .. example:gsub("%s+", " ") .. "\n") end
end
