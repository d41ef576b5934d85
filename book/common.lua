-- What the book's filters share: which page this is, the sections of its text, and how a quiz is read.
-- Pandoc 2.17; used by the Makefile only.

local common = {}

common.input = PANDOC_STATE.input_files[1] or 'a page'
common.stem = common.input:match('([^/]+)%.md$') or common.input

function common.fail(...)
  io.stderr:write(common.input, ': ', string.format(...), '\n')
  os.exit(1)
end

function common.html(text)
  return pandoc.RawBlock('html', text)
end

function common.escape(text)
  return (text:gsub('[&<>"]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

function common.lines_of(path, purpose)
  local file = io.open(path)
  if not file then common.fail('there is no file %s to %s', path, purpose) end
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

-- The book's pages in order, from the file that the Makefile makes: name, tab, title. Lessons have the number
-- that their names begin with; what comes after the last lesson is an appendix, and has a letter.
function common.pages()
  local list, appendices, lessons = {}, 0, false
  for _, line in ipairs(common.lines_of(os.getenv('BOOK_CONTENTS'), 'read the contents from')) do
    local name, title = line:match('^([^\t]+)\t(.+)$')
    local number, kind = name:match('^0*(%d+)%-'), 'Lesson'
    if number then
      lessons = true
    elseif lessons then
      number, kind = string.char(65 + appendices), 'Appendix'
      appendices = appendices + 1
    end
    list[#list + 1] = { name = name, title = title, number = number, label = number and kind .. ' ' .. number,
      lesson = kind == 'Lesson' and number and true or nil, current = name == common.stem or nil }
  end
  return list
end

function common.this_page()
  for _, page in ipairs(common.pages()) do
    if page.current then return page end
  end
  common.fail('is not in the contents')
end

-- Takes the title off the text.
function common.title(doc)
  local first = doc.blocks:remove(1)
  if not first or first.t ~= 'Header' or first.level ~= 1 then
    common.fail('begins with no title: # The title')
  end
  return first.content
end

-- The text with the blocks of each section (between two headings of level 2) put through change[identifier].
function common.by_section(blocks, change)
  local out, body, section = pandoc.List(), pandoc.List(), nil
  local function close()
    out:extend(change[section] and change[section](body) or body)
    body = pandoc.List()
  end
  for _, block in ipairs(blocks) do
    if block.t == 'Header' and block.level <= 2 then
      close()
      out:insert(block)
      section = block.identifier
    else
      body:insert(block)
    end
  end
  close()
  return out
end

-- ---- The quiz: a numbered list; each question has one list of options and then an explanation, quoted ----

local box = { ['☐'] = 'wrong', ['☒'] = 'right' }

local function is_options(block)
  if block.t ~= 'BulletList' or not block.content[1][1] then return false end
  local first = block.content[1][1].content
  return first and first[1] and first[1].t == 'Str' and box[first[1].text] ~= nil
end

local function options(list, number)
  local out, right = pandoc.List(), 0
  for _, item in ipairs(list.content) do
    local words = item[1].content
    local class = box[words[1].text]
    if not class then common.fail('question %d of the quiz: an option has no box', number) end
    if class == 'right' then right = right + 1 end
    out:insert({ class = class, words = pandoc.List({ table.unpack(words, 3) }) })
  end
  if right == 0 then common.fail('question %d of the quiz has no right answer', number) end
  out.right = right
  return out
end

-- A question: its text, its options, and what explains the answer; each a list.
local function question(item, number)
  local read = { text = pandoc.List(), explanation = pandoc.List() }
  for _, block in ipairs(item) do
    if is_options(block) then
      if read.options then common.fail('question %d of the quiz has two lists of options', number) end
      read.options = options(block, number)
    elseif block.t == 'OrderedList' then
      common.fail('question %d of the quiz: a line that begins with "%d." reads as a list; break the line elsewhere',
        number, block.start)
    elseif read.options and block.t == 'BlockQuote' then
      read.explanation:extend(block.content)
    else
      (read.options and read.explanation or read.text):insert(block)
    end
  end
  if not read.options then common.fail('question %d of the quiz has no options', number) end
  return read
end

-- Puts show(question, number, count) in the place of each question of the quiz.
function common.quiz(blocks, show)
  local out = pandoc.List()
  for _, block in ipairs(blocks) do
    if block.t == 'OrderedList' then
      for number, item in ipairs(block.content) do
        out:extend(show(question(item, number), number, #block.content))
      end
    else
      out:insert(block)
    end
  end
  return out
end

-- The answer to a question: its right options, and why.
local function answer(read)
  local words = pandoc.List()
  for _, choice in ipairs(read.options) do
    if choice.class == 'right' then
      if #words > 0 then words:insert(pandoc.Str('; ')) end
      words:extend(choice.words)
    end
  end
  local blocks = pandoc.List({ pandoc.Para({ pandoc.Strong(words) }) })
  blocks:extend(read.explanation)
  return blocks
end

-- The quiz as two numbered lists, its questions, each with choices(options) below it, and its answers; and what else
-- is there: that, questions, answers.
function common.quiz_apart(blocks, choices)
  local questions, answers = pandoc.List(), pandoc.List()
  local rest = common.quiz(blocks, function(read)
    local item = pandoc.List(read.text)
    item:insert(choices(read.options))
    questions:insert(item)
    answers:insert(answer(read))
    return {}
  end)
  return rest, pandoc.OrderedList(questions), pandoc.OrderedList(answers)
end

return common
