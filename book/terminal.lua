-- A lesson as a terminal shows it, for Pandoc's writer of plain text: listings, the words of figures, and what a student
-- should think of alone folded to a line with the command that shows it. With ANSWERS the answers are not, with ALL nothing is; with
-- VERSION one version of the solution is shown, and nothing else.
--
--     BOOK_COLUMNS    how wide the text is
--     BOOK_COLOURS    set: headings, emphasis and code are marked, and book/read.sh makes escape codes of the marks
--     BOOK_ASCII      set: exponents are written out, because the terminal has ASCII only

local common = dofile('book/common.lua')
local quoted = dofile('book/regions.lua')
local here = common.this_page()
local columns = tonumber(os.getenv('BOOK_COLUMNS'))
local all = (os.getenv('ALL') or '') ~= ''
local answers = all or (os.getenv('ANSWERS') or '') ~= ''

local function set(name)
  return (os.getenv(name) or '') ~= ''
end

-- ---- Marks: characters that take no room on a line, so that Pandoc breaks lines where they should break ---------

local marks = set('BOOK_COLOURS') and { bold = '\u{363}', italic = '\u{364}', code = '\u{365}' } or {}
local closing = '\u{36F}'

-- Each word has its own marks, as lines are broken between words. They are combining characters, so the first one follows
-- the word's first letter. A word that has marks gets no more.
local function marked(kind, text)
  if not marks[kind] or text == '' or text:find(closing, 1, true) then return text end
  local second = utf8.offset(text, 2)
  return text:sub(1, second - 1) .. marks[kind] .. text:sub(second) .. closing
end

local function mark(kind, inlines)
  return pandoc.walk_inline(pandoc.Span(inlines), { Str = function(word)
    return pandoc.Str(marked(kind, word.text))
  end }).content
end

local function width(text)
  return utf8.len((text:gsub('\xCD[\xA3-\xAF]', '')))
end

-- ---- Code --------------------------------------------------------------------------------------------------------

-- A line that is too long is broken at its last blank that fits; the rest follows further in, and of a comment as a comment.
-- A comment beside code goes above it.
local function broken(line, room)
  if width(line) <= room then return line end
  local indent = line:match('^ *')
  local comment, cut = line:find('//', 1, true), nil
  if comment and comment > #indent + 1 then
    return broken(indent .. line:sub(comment), room) .. '\n' .. broken(line:sub(1, comment - 1):gsub(' +$', ''), room)
  end
  local first = #indent + (comment and 3 or 0)
  for at in line:gmatch('() ') do
    if at > first and width(line:sub(1, at - 1)) <= room then cut = at end
  end
  local rest = cut and line:sub(cut + 1):gsub('^ +', '')
  if not cut or rest == '' then return line end
  local further = indent .. (comment and '// ' or '    ')
  return line:sub(1, cut - 1):gsub(' +$', '') .. '\n' .. broken(further .. rest, room)
end

local function fitted(text, room)
  return (text:gsub('[^\n]+', function(line) return broken(line, room) end))
end

local function headed(words, text)
  return pandoc.CodeBlock(marked('bold', words) .. '\n' .. fitted(text, columns - 4))
end

local function code_block(block)
  if block.attributes.include then
    local text, path, name = quoted(block)
    return headed(('%s: %s%s'):format(block.attributes.number, name and name .. ', in ' or '', path), '\n' .. text)
  elseif block.attributes.cmd then
    return headed('$ ' .. block.attributes.cmd, block.text)
  end
  return pandoc.CodeBlock(fitted(block.text, columns - 4))
end

-- ---- Figures: their captions, and the words that describe them -----------------------------------------------------

local function words_of(text)
  return pandoc.utils.blocks_to_inlines(pandoc.read(text, 'html').blocks)
end

local drawn
local function figure(block)
  if block.format ~= 'html' then return nil end
  drawn = true
  local caption = block.text:match('<figcaption>(.-)</figcaption>'):gsub('<b class="number">(.-)</b>', '%1:')
  local out = pandoc.List({ pandoc.Para(words_of(caption)) })
  for _, pattern in ipairs({ '<title[^>]*>(.-)</title>', ' title="(.-)"', ' alt="(.-)"' }) do
    for words in block.text:gmatch(pattern) do
      local described = pandoc.List({ pandoc.Str('It shows:'), pandoc.Space() })
      described:extend(words_of(words))
      out:insert(pandoc.Para(described))
    end
  end
  return pandoc.BlockQuote(out)
end

-- ---- What folds ----------------------------------------------------------------------------------------------------

-- A line in the place of what is folded: `words`, and the command that shows it.
local function folded(words, command)
  local out = pandoc.List({ pandoc.Str('[') })
  out:extend(words_of(words))
  out:extend({ pandoc.Space(), pandoc.Code(('make %s'):format(command:gsub('%-N', '-' .. here.number))), pandoc.Str(']') })
  return pandoc.Para(out)
end

local function division(element)
  if not element.classes:includes('answer') then return nil end
  local out = pandoc.List({ pandoc.Para({ pandoc.Strong(element.attributes.title) }) })
  if answers then out:extend(element.content)
  else out:insert(folded('The answer is folded. To read the answers:', 'read-N ANSWERS=1')) end
  return out
end

local function hints(blocks)
  return all and blocks or { folded('Three hints are folded. The next of them:', 'hint-N') }
end

-- The number of the version of the solution that a heading begins, or nil.
local function version_at(block)
  return block.t == 'Header' and block.level == 3 and pandoc.utils.stringify(block):match('^Version (%d+)')
end

local function solution(blocks)
  if all then return blocks end
  local first, words = blocks:find_if(version_at), 'it:'
  if first then
    words = ('one version: <code>make read-%s VERSION=%s</code>; all of it:'):format(here.number, version_at(first))
  end
  return { folded('The solution is folded. To read ' .. words, 'read-N ALL=1') }
end

-- A version of the solution: its heading, and what follows until the next heading.
local function version_of(blocks, number)
  local out = pandoc.List()
  for _, block in ipairs(blocks) do
    if version_at(block) == number then out:insert(block)
    elseif block.t == 'Header' and #out > 0 then break
    elseif #out > 0 then out:insert(block) end
  end
  if #out > 0 then return out end
  io.stderr:write(('%s: its solution has no version %s. To read all of it: make read-%s ALL=1\n'):format(
    here.label, number, here.number))
  os.exit(1)
end

local function choices(options)
  return pandoc.OrderedList(options:map(function(choice)
    return { pandoc.Plain(choice.words) }
  end), pandoc.ListAttributes(1, 'LowerAlpha', 'OneParen'))
end

local function quiz(blocks)
  local out, questions, answers = common.quiz_apart(blocks, choices)
  out:insert(questions)
  if all then
    out:insert(pandoc.Header(3, 'Answers'))
    out:insert(answers)
  else
    out:insert(folded('The answers are folded. To be asked:', 'quiz-N'))
  end
  return out
end

local function fold(doc)
  if set('VERSION') then
    local title = doc.blocks[1]
    doc.blocks = version_of(doc.blocks, os.getenv('VERSION'))
    doc.blocks:insert(1, title)
    return doc
  end
  local change = { hints = hints, quiz = quiz }
  for _, block in ipairs(doc.blocks) do
    if block.t == 'Header' and block.identifier:match('^the%-solution') then change[block.identifier] = solution end
  end
  doc.blocks = common.by_section(doc.blocks, change)
  if drawn then
    doc.blocks:insert(2, pandoc.Para(words_of(
      ('[Its figures are in <code>build/book/%s.html</code>, which <code>make book</code> makes.]'):format(here.name))))
  end
  return doc
end

-- ---- Words ---------------------------------------------------------------------------------------------------------

-- Without colours, emphasis is kept as people write it; a single letter in italics is a variable, and needs none.
local function emphasis(kind, sign)
  return function(element)
    local words = element.content
    if marks[kind] then return mark(kind, words) end
    if #pandoc.utils.stringify(words) > 1 then
      words:insert(1, pandoc.Str(sign))
      words:insert(pandoc.Str(sign))
    end
    return words
  end
end

-- Short code is not broken.
local function code(element)
  local text = element.text
  if not marks.code then text = '`' .. text .. '`' end
  if #element.text <= 20 then return pandoc.Str(marked('code', text)) end
  local out = pandoc.List()
  for word in text:gmatch('%S+') do
    if #out > 0 then out:insert(pandoc.Space()) end
    out:insert(pandoc.Str(marked('code', word)))
  end
  return out
end

-- The number of a table in its caption.
local function number(span)
  if span.classes:includes('number') and span.content[1].t == 'Strong' then
    return pandoc.Str(pandoc.utils.stringify(span) .. ':')
  end
end

local function link(element)
  local out = pandoc.List(element.content)
  if element.target:match('^https?:') then
    out:extend({ pandoc.Space(), pandoc.Str('(' .. element.target .. ')') })
  end
  return out
end

-- Digits above or below the line are such characters where the terminal has them; else a mark stands before what they say.
local raised = { ['-'] = '⁻', ['−'] = '⁻' }
local lowered = {}
for digit = 0, 9 do
  raised[tostring(digit)] = ({ [0] = '⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹' })[digit]
  lowered[tostring(digit)] = utf8.char(0x2080 + digit)
end

local function shifted(digits, sign)
  return function(element)
    local text, out = pandoc.utils.stringify(element.content), ''
    for _, character in utf8.codes(text) do
      local digit = digits[utf8.char(character)]
      if not digit or set('BOOK_ASCII') then return pandoc.Str(sign .. text) end
      out = out .. digit
    end
    return pandoc.Str(out)
  end
end

-- A formula on one line: Pandoc writes no fractions there.
local function formula(math)
  math.text = math.text:gsub('\\frac{(.-)}{(.-)}', function(above, below)
    return (above:match('%W') and '(%s)/%s' or '%s/%s'):format(above, below)
  end)
  return math
end

-- ---- Tables, as wide as the text at most: Pandoc's own are wider where words are long ----------------------------

-- The rows of a table, the first being the headers, as text.
local function cells(element)
  local simple = pandoc.utils.to_simple_table(element)
  return pandoc.List({ simple.headers, table.unpack(simple.rows) }):map(function(row)
    return pandoc.List(row):map(pandoc.utils.stringify)
  end)
end

-- How wide each column is. Where not all cells fit on a line, each column has room for its longest word, and what is left
-- goes to that whose cells would be broken most often.
local function widths_of(rows, room)
  local widths, natural, total = {}, {}, 0
  for _, row in ipairs(rows) do
    for i, text in ipairs(row) do
      natural[i] = math.max(natural[i] or 1, width(text))
      widths[i] = widths[i] or 1
      for word in text:gmatch('%S+') do widths[i] = math.max(widths[i], width(word)) end
    end
  end
  for i in ipairs(widths) do
    room, total = room - widths[i], total + natural[i] - widths[i]
  end
  for _ = 1, math.min(room, total) do
    local most = 1
    for i in ipairs(widths) do
      if natural[i] / widths[i] > natural[most] / widths[most] then most = i end
    end
    widths[most] = widths[most] + 1
  end
  return widths, room < 0
end

local function lines_of(text, room)
  local lines = pandoc.List({ '' })
  for word in text:gmatch('%S+') do
    local longer = lines[#lines] == '' and word or lines[#lines] .. ' ' .. word
    if width(longer) > room then lines:insert(word) else lines[#lines] = longer end
  end
  return lines
end

local function padded(text, room, align)
  local blanks = (' '):rep(room - width(text))
  return align == 'AlignRight' and blanks .. text or text .. blanks
end

-- The lines of a row, whose cells may have several.
local function row_lines(row, widths, specs, gap)
  local out, broken_cells, count = pandoc.List(), pandoc.List(), 1
  for i, text in ipairs(row) do
    broken_cells[i] = lines_of(text, widths[i])
    count = math.max(count, #broken_cells[i])
  end
  for k = 1, count do
    local line = pandoc.List()
    for i, lines in ipairs(broken_cells) do line:insert(padded(lines[k] or '', widths[i], specs[i][1])) end
    out:insert(table.concat(line, gap))
  end
  return out
end

local function plain_table(element)
  local rows, gap = cells(element), '  '
  local widths, crowded = widths_of(rows, columns - 2 - #gap * (#element.colspecs - 1))
  if crowded then
    gap = ' '
    widths = widths_of(rows, columns - 2 - #gap * (#element.colspecs - 1))
  end
  local out, tall = pandoc.List(), false
  for i, row in ipairs(rows) do
    local lines = row_lines(row, widths, element.colspecs, gap)
    if i > 2 and (tall or #lines > 1) then out:insert('') end
    tall = #lines > 1
    out:extend(lines)
    if i == 1 then
      out:insert(table.concat(pandoc.List(widths):map(function(count) return ('-'):rep(count) end), gap))
    end
  end
  local caption = element.caption.long:map(function(block) return pandoc.Para(block.content) end)
  caption:insert(pandoc.RawBlock('plain', table.concat(out, '\n')))
  return caption
end

-- ---- The page: headings at the margin, and what is below them a little further in --------------------------------------

local function heading(inlines, rule)
  local words = mark('bold', inlines)
  if rule then
    local under = rule:rep(math.min(width(pandoc.utils.stringify(words)), columns))
    words:extend({ pandoc.LineBreak(), pandoc.Str(under) })
  end
  return pandoc.Para(words)
end

local function page(doc)
  local title = pandoc.List({ pandoc.Str(here.label .. ':'), pandoc.Space() })
  title:extend(common.title(doc))
  local out = pandoc.List({ heading(title, '=') })
  for _, block in ipairs(doc.blocks) do
    if block.t == 'Header' then
      out:insert(heading(block.content, block.level == 2 and '-'))
    elseif out[#out].t == 'BlockQuote' then
      out[#out].content:insert(block)
    else
      out:insert(pandoc.BlockQuote({ block }))
    end
  end
  return pandoc.Pandoc(out)
end

return {
  { CodeBlock = code_block, RawBlock = figure, Div = division, Span = number, Pandoc = fold },
  { Emph = emphasis('italic', '_'), Strong = emphasis('bold', '*'), Code = code, Link = link, Math = formula,
    Superscript = shifted(raised, '^'), Subscript = shifted(lowered, '_') },
  { Table = plain_table },
  { Pandoc = page },
}
