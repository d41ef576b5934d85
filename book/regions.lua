-- What a listing quotes: ```{.cuda include=solutions/05-transpose.cu region=tile}
-- With skeleton=1 it is the same place of the exercise, with what is left open or wrong there.

local common = dofile('book/common.lua')

-- Takes off the indent that all lines share, and the empty lines at both ends.
local function dedent(lines)
  local shared
  for _, line in ipairs(lines) do
    local indent = line:match('^( *)%S')
    if indent and (not shared or #indent < shared) then shared = #indent end
  end
  for i, line in ipairs(lines) do lines[i] = line:sub((shared or 0) + 1) end
  return (table.concat(lines, '\n'):gsub('^%s*\n', ''):gsub('%s+$', ''))
end

-- The regions of a file by name: the text between `//> name` and `//< name`, without any markers and
-- without the lines (`//|`) that only the skeleton has; `skeleton` is that with these, and without the blanks.
local regions_of = {}
local function regions(path)
  if regions_of[path] then return regions_of[path] end
  local found, open, blank = {}, {}, nil
  local function add(line, to_solution, to_skeleton)
    for _, name in ipairs(open) do
      if to_solution then table.insert(found[name], line) end
      if to_skeleton then table.insert(found[name].skeleton, line) end
    end
  end
  for number, line in ipairs(common.lines_of(path, 'quote from')) do
    local opens, closes = line:match('^%s*//>%s*(%S+)'), line:match('^%s*//<%s*(%S+)%s*$')
    if opens then
      if found[opens] then
        common.fail('%s:%d: region %s was opened before, at line %d', path, number, opens, found[opens].first - 1)
      end
      found[opens] = { first = number + 1, skeleton = {} }
      open[#open + 1] = opens
      local todo = line:match('(TODO:.+)$')
      if line:match('TODO:') or line:match('BUG:$') then blank = opens end
      if todo then add(line:match('^%s*') .. '// ' .. todo, false, true) end
    elseif closes then
      if open[#open] ~= closes then
        common.fail('%s:%d: region %s is closed, but %s is open', path, number, closes, open[#open] or 'none')
      end
      found[table.remove(open)].last = number - 1
      if blank == closes then blank = nil end
    elseif line:match('^%s*//|') then
      add(line:gsub('//| ?', '', 1), false, true)
    else
      add(line, true, not blank)
    end
  end
  if #open > 0 then
    common.fail('%s:%d: region %s is never closed', path, found[open[#open]].first - 1, open[#open])
  end
  regions_of[path] = found
  return found
end

-- The text that a listing quotes, the file that it is in, and the region's name; nil: the file is quoted whole.
return function(block)
  local path, name = block.attributes.include, block.attributes.region
  if name then
    local region = regions(path)[name]
    if not region then common.fail('%s has no region %s', path, name) end
    if block.attributes.skeleton then
      region, path = region.skeleton, path:gsub('^solutions/', 'exercises/')
    end
    return dedent(region), path, name
  end
  local whole = {}
  for _, line in ipairs(common.lines_of(path, 'quote from')) do
    if not line:match('^%s*//[<>|]') then whole[#whole + 1] = line end
  end
  return dedent(whole), path
end
