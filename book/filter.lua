-- Turns a lesson's Markdown into the book's page: quotes the solutions by region, folds the hints, makes the
-- quiz work by itself, and tells the template which page this is. Pandoc 2.17; used by the Makefile only.

local input = PANDOC_STATE.input_files[1] or 'a page'
local stem = input:match('([^/]+)%.md$') or input

local function fail(...)
  io.stderr:write(input, ': ', string.format(...), '\n')
  os.exit(1)
end

local function html(text)
  return pandoc.RawBlock('html', text)
end

local function escape(text)
  return (text:gsub('[&<>"]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

local function lines_of(path)
  local file = io.open(path)
  if not file then fail('there is no file %s to quote from', path) end
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

-- ---- Listings: ```{.cuda include=solutions/05-transpose.cu region=tile} ---------------------------------

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
-- without the lines (`//|`) that only the skeleton has.
local regions_of = {}
local function regions(path)
  if regions_of[path] then return regions_of[path] end
  local found, open = {}, {}
  for number, line in ipairs(lines_of(path)) do
    local opens, closes = line:match('^%s*//>%s*(%S+)'), line:match('^%s*//<%s*(%S+)%s*$')
    if opens then
      if found[opens] then
        fail('%s:%d: region %s was opened before, at line %d', path, number, opens, found[opens].first - 1)
      end
      found[opens] = { first = number + 1 }
      open[#open + 1] = opens
    elseif closes then
      if open[#open] ~= closes then
        fail('%s:%d: region %s is closed, but %s is open', path, number, closes, open[#open] or 'none')
      end
      found[table.remove(open)].last = number - 1
    elseif not line:match('^%s*//|') then
      for _, name in ipairs(open) do table.insert(found[name], line) end
    end
  end
  if #open > 0 then
    fail('%s:%d: region %s is never closed', path, found[open[#open]].first - 1, open[#open])
  end
  regions_of[path] = found
  return found
end

local function listing(block)
  local path, name = block.attributes.include, block.attributes.region
  local text, where
  if name then
    local region = regions(path)[name]
    if not region then fail('%s has no region %s', path, name) end
    text, where = dedent(region), name
  else
    local whole = {}
    for _, line in ipairs(lines_of(path)) do
      if not line:match('^%s*//[<>|]') then whole[#whole + 1] = line end
    end
    text, where = dedent(whole), ''
  end
  local code = pandoc.CodeBlock(text, pandoc.Attr(block.identifier, block.classes, { tabindex = '0' }))
  return {
    html('<figure class="listing"><figcaption><code>' .. escape(path) .. '</code> <span>' .. escape(where) ..
      '</span></figcaption>'),
    code,
    html('</figure>'),
  }
end

-- ---- What a terminal shows: ```{.output cmd="make lesson-5"} ---------------------------------------------

local verdicts = {}
for word in ('PASS TODO BUILD BOUNDS RACE TIMEOUT CRASH PROTOCOL MEMORY WRONG SUSPECT SLOW NODEVICE GRADER-ERROR')
  :gmatch('%S+') do
  verdicts[word] = word == 'PASS' and 'pass' or word == 'TODO' and 'todo' or 'fail'
end

local function terminal(block)
  local command = block.attributes.cmd
  local text = escape('\n' .. block.text):gsub('\n([%u-]+)', function(word)
    return verdicts[word] and ('\n<b class="%s">%s</b>'):format(verdicts[word], word)
  end):sub(2)
  local prompt = command and ('<span class="prompt">$ </span><kbd>' .. escape(command) .. '</kbd>\n') or ''
  return html('<pre class="terminal" tabindex="0"><samp>' .. prompt .. text .. '</samp></pre>')
end

local function code_block(block)
  if block.attributes.include then return listing(block) end
  if block.classes:includes('output') then return terminal(block) end
  block.attributes.tabindex = '0'
  return block
end

local function scrolling_table(element)
  return { html('<div class="table" role="group" tabindex="0">'), element, html('</div>') }
end

-- `::: {.answer title="..."}` is folded until the reader asks.
local function division(element)
  if not element.classes:includes('answer') then return nil end
  local blocks = pandoc.List({ html('<details class="answer"><summary>' ..
    escape(element.attributes.title or 'Answer') .. '</summary>') })
  blocks:extend(element.content)
  blocks:insert(html('</details>'))
  return blocks
end

-- ---- Hints and quiz: the sections of those names ---------------------------------------------------------

local function hints(blocks)
  local out, open = pandoc.List(), false
  for _, block in ipairs(blocks) do
    if block.t == 'Header' then
      if open then out:insert(html('</details>')) end
      out:insert(html('<details class="hint" id="' .. block.identifier .. '"><summary>'))
      out:insert(pandoc.Plain(block.content))
      out:insert(html('</summary>'))
      open = true
    else
      out:insert(block)
    end
  end
  if open then out:insert(html('</details>')) end
  return out
end

local box = { ['☐'] = 'wrong', ['☒'] = 'right' }

local function is_options(block)
  if block.t ~= 'BulletList' or not block.content[1][1] then return false end
  local first = block.content[1][1].content
  return first and first[1] and first[1].t == 'Str' and box[first[1].text] ~= nil
end

-- The inputs come before the explanation, as its siblings: so CSS alone can show it once the answer is right.
local function options(list, question)
  local right = 0
  for _, item in ipairs(list.content) do
    if box[item[1].content[1].text] == 'right' then right = right + 1 end
  end
  if right == 0 then fail('question %d of the quiz has no right answer', question) end
  local out = pandoc.List()
  for i, item in ipairs(list.content) do
    local words = item[1].content
    local class = box[words[1].text]
    if not class then fail('question %d of the quiz: an option has no box', question) end
    local id = ('q%d-%d'):format(question, i)
    local content = pandoc.List({ pandoc.RawInline('html',
      ('<input type="%s" name="q%d" id="%s" class="%s"><label for="%s">'):format(
        right > 1 and 'checkbox' or 'radio', question, id, class, id)) })
    for k = 3, #words do content:insert(words[k]) end
    content:insert(pandoc.RawInline('html', '</label>'))
    out:insert(pandoc.Plain(content))
  end
  return out
end

local function question(item, number, count)
  local out, answered = pandoc.List({ html(('<fieldset class="question"><legend>Question %d of %d</legend>')
    :format(number, count)) }), false
  for _, block in ipairs(item) do
    if is_options(block) then
      if answered then fail('question %d of the quiz has two lists of options', number) end
      out:extend(options(block, number))
      out:insert(html('<div class="explanation" role="status">'))
      answered = true
    elseif block.t == 'OrderedList' then
      fail('question %d of the quiz: a line that begins with "%d." reads as a list; break the line elsewhere',
        number, block.start)
    elseif answered and block.t == 'BlockQuote' then
      out:extend(block.content)
    else
      out:insert(block)
    end
  end
  if not answered then fail('question %d of the quiz has no options', number) end
  out:insert(html('</div></fieldset>'))
  return out
end

local function quiz(blocks)
  local out = pandoc.List()
  for _, block in ipairs(blocks) do
    if block.t == 'OrderedList' then
      for number, item in ipairs(block.content) do
        out:extend(question(item, number, #block.content))
      end
    else
      out:insert(block)
    end
  end
  return out
end

-- ---- The page --------------------------------------------------------------------------------------------

-- The book's pages in order, from the file that the Makefile makes: name, tab, title.
local function pages()
  local list = {}
  for _, line in ipairs(lines_of(os.getenv('BOOK_CONTENTS'))) do
    local name, title = line:match('^([^\t]+)\t(.+)$')
    local number = name:match('^0*(%d+)%-')
    list[#list + 1] = { name = name, title = title, number = number, lesson = number and true or nil,
      current = name == stem or nil }
  end
  return list
end

local function contents_list(list)
  local out = { '<ol class="contents">' }
  for _, page in ipairs(list) do
    if page.number then
      out[#out + 1] = ('<li value="%s"><a href="%s.html"><span class="number">%s</span> %s</a></li>'):format(
        page.number, page.name, page.number, page.title)
    end
  end
  out[#out + 1] = '</ol>'
  return html(table.concat(out))
end

local function navigation(meta)
  local list = pages()
  for i, page in ipairs(list) do
    if page.current then
      meta.number, meta.prev, meta.next = page.number, list[i - 1], list[i + 1]
    end
  end
  meta.pages = list
  return list
end

local function page(doc)
  local blocks, meta = doc.blocks, doc.meta
  if not meta.title then
    local first = blocks:remove(1)
    if not first or first.t ~= 'Header' or first.level ~= 1 then fail('begins with no title: # The title') end
    meta.title = first.content
  end
  meta.pagetitle = pandoc.utils.stringify(meta.title)
  local list = navigation(meta)

  local out, section, body = pandoc.List(), nil, pandoc.List()
  local function close()
    out:extend(section == 'hints' and hints(body) or section == 'quiz' and quiz(body) or body)
    body = pandoc.List()
  end
  for _, block in ipairs(blocks) do
    if block.t == 'Header' and block.level <= 2 then
      close()
      out:insert(block)
      section = block.identifier
    elseif block.t == 'Div' and block.identifier == 'contents' then
      body:insert(contents_list(list))
    else
      body:insert(block)
    end
  end
  close()
  return pandoc.Pandoc(out, meta)
end

return {
  { CodeBlock = code_block, Table = scrolling_table, Div = division },
  { Pandoc = page },
}
