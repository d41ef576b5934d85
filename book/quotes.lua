-- Quotes the solutions by region, shows what a terminal shows, draws what was measured, and shows pictures.

local common = dofile('book/common.lua')
local quoted = dofile('book/regions.lua')
local fail, html, escape = common.fail, common.html, common.escape

-- ---- Listings ------------------------------------------------------------------------------------------------

local function listing(block)
  local text, path, name = quoted(block)
  local id, number = block.identifier, block.attributes.number
  return {
    html(('<figure class="listing"%s><figcaption><span>%s<code>%s</code></span> <span>%s</span></figcaption>'):format(
      id ~= '' and ' id="' .. id .. '"' or '', number and '<b class="number">' .. number .. '</b> ' or '',
      escape(path), escape(name or ''))),
    pandoc.CodeBlock(text, pandoc.Attr('', block.classes, { tabindex = '0' })),
    html('</figure>'),
  }
end

-- ---- What a terminal shows: ```{.output cmd="make lesson-5"} ---------------------------------------------

-- The verdicts are those of the page that explains them: the words in capitals in its table's first column.
local function all_verdicts()
  local classes = { PASS = 'pass', TODO = 'todo' }
  local found = {}
  for _, line in ipairs(common.lines_of('book/verdicts.md', 'read the verdicts from')) do
    for word in (line:match('^| ([%u%-, ]+) |') or ''):gmatch('[%u-]+') do
      found[word] = classes[word] or 'fail'
    end
  end
  return found
end

local verdicts = all_verdicts()
local function terminal(block)
  local command = block.attributes.cmd
  local text = escape('\n' .. block.text):gsub('\n([%u-]+)', function(word)
    return verdicts[word] and ('\n<b class="%s">%s</b>'):format(verdicts[word], word)
  end):sub(2)
  local prompt = command and ('<span class="prompt">$ </span><kbd>' .. escape(command) .. '</kbd>\n') or ''
  return html('<pre class="terminal" tabindex="0"><samp>' .. prompt .. text .. '</samp></pre>')
end

-- ---- Figures of data: <plot data="profiles/figures/15-tiled-matmul.txt" title="..." x="n" y="..."/> ------------

-- Or <timeline data="..." id="..." title="..." panels="..."/>. Its other attributes are variables of plot.awk, or of timeline.awk.
local function draw(program, attributes)
  local arguments, data, id = { '-F', '\t' }, nil, nil
  for name, value in attributes:gmatch('([%w_]+)="(.-)"') do
    if name == 'data' then data = value elseif name == 'id' then id = value else
      arguments[#arguments + 1] = '-v'
      arguments[#arguments + 1] = name .. '=' .. value
    end
  end
  common.lines_of(data or '', 'draw')
  arguments[#arguments + 1] = '-v'
  arguments[#arguments + 1] = 'id=' .. (id or data:match('([^/]+)%.%w+$'))
  arguments[#arguments + 1] = '-f'
  arguments[#arguments + 1] = program
  arguments[#arguments + 1] = data
  local drawn, svg = pcall(pandoc.pipe, 'awk', arguments, '')
  if not drawn then fail('%s cannot be drawn', data) end
  return svg
end

local function plot(attributes) return draw('book/plot.awk', attributes) end
local function timeline(attributes) return draw('book/timeline.awk', attributes) end

-- ---- Pictures: <img src="pictures/03-grids-and-indexing-grey.png" alt="..."/> ---------------------------------

-- Those of grader/pictures/, and those that the solution's kernels made of them, lie beside the pages. Their size,
-- which a PNG's header has, keeps the text from moving when they arrive.
local function picture(attributes)
  local source = attributes:match('src="(.-)"') or ''
  local file = io.open('build/book/' .. source, 'rb')
  local head = file and file:read(24) or ''
  if file then file:close() end
  if #head < 24 then fail('shows %s, which is neither in grader/pictures/ nor made by the solution', source) end
  if not attributes:match('alt="%s*[^%s"]') then fail('%s has no words (alt) for those who cannot see it', source) end
  return ('<img%s width="%d" height="%d"/>'):format(attributes:gsub('%s+$', ''), string.unpack('>I4I4', head, 17))
end

local function drawing(block)
  if block.format ~= 'html' then return nil end
  return html((block.text:gsub('<plot(.-)/>', plot):gsub('<timeline(.-)/>', timeline):gsub('<img(.-)/>', picture)))
end

local function code_block(block)
  if block.attributes.include then return listing(block) end
  if block.classes:includes('output') then return terminal(block) end
  block.attributes.tabindex = '0'
  return block
end

-- Short code is not broken: `-cudart` would be, after its hyphen.
local function inline(code)
  if #code.text > 20 then return nil end
  code.classes:insert('short')
  return code
end

return { { CodeBlock = code_block, Code = inline, RawBlock = drawing } }
