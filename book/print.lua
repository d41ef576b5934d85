-- The bound book for the printer: its table of contents, with the page numbers that the printer's first run gave
-- (BOOK_PAGE_NUMBERS: lines of `page place`; there is no such file yet in that run).

local function page_numbers()
  local numbers, file = {}, io.open(os.getenv('BOOK_PAGE_NUMBERS') or '')
  if not file then return numbers end
  for line in file:lines() do
    local page, place = line:match('^(%d+) (.+)$')
    numbers[place] = page
  end
  file:close()
  return numbers
end

local function entry(header, numbers)
  local id = header.identifier
  local words = header.content:walk({ Span = function(span)
    if span.classes:includes('colon') then return {} end
    if span.classes:includes('eyebrow') then return pandoc.Span(span.content, { class = 'eyebrow' }) end
    return span.content
  end, Link = function(link) return link.content end })
  local content = pandoc.List({ pandoc.Span(words, { class = 'words' }),
    pandoc.Span(numbers[id] or '000', { class = 'leaf' }) })
  return pandoc.Div(pandoc.Plain({ pandoc.Link(content, '#' .. id) }), { class = 'entry level' .. header.level })
end

local function document(doc)
  local numbers, contents = page_numbers(), pandoc.List()
  for _, block in ipairs(doc.blocks) do
    if block.t == 'Header' and block.level <= 2 then contents:insert(entry(block, numbers)) end
  end
  doc.meta.contents = pandoc.MetaBlocks(contents)
  return doc
end

return { { Pandoc = document } }
