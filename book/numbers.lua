-- Numbers the sections, figures, listings and tables of a page, and puts the numbers where the text points:
--
--     <figure id="fig:banks">                                       figures are HTML
--     ```{#lst:tile .cuda include=... region=...}                   a listing is what quotes a file
--     : The three versions side by side. {#tbl:versions}            a table's caption
--     ## The banks {#sec:banks}                                     a section
--     ... as [@fig:banks] shows ...                                 in any page; [@lesson:5] is lesson 5 itself, [@title:5] its title
--
-- Each page is read twice. The first time, with BOOK_LABELS empty or unset, what comes out is its labels:
-- label, page, place, words. The second time BOOK_LABELS names the file of all pages' labels.

local common = dofile('book/common.lua')
local here = common.this_page()
local labels_file = os.getenv('BOOK_LABELS')
if labels_file == '' then labels_file = nil end

local counts, labels = {}, {}

local function next_number(kind)
  counts[kind] = (counts[kind] or 0) + 1
  return here.number and here.number .. '.' .. counts[kind]
end

-- Keeps the label, if there is one, and gives the identifier for the page: `fig-banks` for `fig:banks`.
local function label(identifier, kind, words)
  local name = identifier:match('^' .. kind .. ':(.+)$')
  if not name then return identifier end
  local place = kind .. '-' .. name
  labels[#labels + 1] = table.concat({ identifier, here.name, place, words }, '\t')
  return place
end

local section
local function header(element)
  if element.level > 3 or not here.number then return nil end
  local words
  if element.level == 2 then
    section = next_number('section')
    words = 'section ' .. section
    element.content:insert(1, pandoc.Span(section, { class = 'number' }))
    element.content:insert(2, pandoc.Space())
  elseif section then
    words = ('section %s, “%s”'):format(section, pandoc.utils.stringify(element.content))
  end
  element.identifier = label(element.identifier, 'sec', words or '')
  return element
end

local function figure(block)
  if block.format ~= 'html' or not here.number then return nil end
  local text = block.text:gsub('<figure(.-)>(.-)<figcaption>', function(attributes, body)
    local number = next_number('figure')
    attributes = attributes:gsub('id="(.-)"', function(identifier)
      return 'id="' .. label(identifier, 'fig', 'Figure ' .. number) .. '"'
    end)
    return ('<figure%s>%s<figcaption><b class="number">Figure %s</b> '):format(attributes, body, number)
  end)
  return pandoc.RawBlock('html', text)
end

local function listing(block)
  if not block.attributes.include or not here.number then return nil end
  local number = next_number('listing')
  block.attributes.number = 'Listing ' .. number
  block.identifier = label(block.identifier, 'lst', 'Listing ' .. number)
  return block
end

-- Takes `{#tbl:versions}` off the end of a caption.
local function caption_label(words)
  local last = words[#words]
  local identifier = last and last.t == 'Str' and last.text:match('^{#(tbl:.+)}$')
  if not identifier then return '' end
  words:remove()
  if words[#words] and words[#words].t == 'Space' then words:remove() end
  return identifier
end

-- The identifier stands in the caption: Pandoc 2.17 writes none for a table.
local function numbered_table(element)
  local caption = element.caption.long
  if #caption == 0 or not here.number then return nil end
  local number = next_number('table')
  local words = caption[1].content
  local identifier = label(caption_label(words), 'tbl', 'Table ' .. number)
  words:insert(1, pandoc.Span(pandoc.Strong('Table ' .. number), { id = identifier, class = 'number' }))
  words:insert(2, pandoc.Space())
  caption[1] = pandoc.Plain(words)
  element.caption.long = caption
  return element
end

-- ---- Where the text points -------------------------------------------------------------------------------

-- Every label of the book; each is there once.
local function all_labels()
  local known = {}
  for _, page in ipairs(common.pages()) do
    if page.lesson then
      known['lesson:' .. page.number] = { page = page.name, words = 'lesson ' .. page.number }
      known['title:' .. page.number] = { page = page.name, words = page.title }
    end
  end
  for _, line in ipairs(common.lines_of(labels_file, 'read the labels from')) do
    local name, page, place, words = line:match('^(.-)\t(.-)\t(.-)\t(.*)$')
    if name and known[name] then
      common.fail('the label %s is in %s and in %s', name, known[name].page, page)
    end
    if name then known[name] = { page = page, place = place, words = words } end
  end
  return known
end

local known
local function reference(name)
  known = known or all_labels()
  local target = known[name]
  if not target then common.fail('points to %s, and no page has that label', name) end
  local page = target.place and target.page == here.name and '' or target.page .. '.html'
  return pandoc.Link(target.words, page .. (target.place and '#' .. target.place or ''))
end

-- A figure's caption is HTML, and may point as well.
local function caption_references(block)
  if block.format ~= 'html' or not labels_file then return nil end
  return pandoc.RawBlock('html', (block.text:gsub('%[@(%w+:[%w-]+)%]', function(name)
    local link = reference(name)
    return ('<a href="%s">%s</a>'):format(link.target, pandoc.utils.stringify(link))
  end)))
end

local function references(cite)
  local out = pandoc.List()
  for i, citation in ipairs(cite.citations) do
    if i > 1 then out:insert(pandoc.Str(i == #cite.citations and ' and ' or ', ')) end
    out:insert(reference(citation.id))
  end
  return out
end

-- Does a sentence begin at this place of a line?
local function begins_sentence(line, at)
  local before = line[at - 2]
  return at == 1 or line[at - 1].t ~= 'Str' and before and before.t == 'Str' and before.text:match('[.?!][)"”]?$')
end

local function all_references(line)
  if not labels_file then return nil end
  local out = pandoc.List()
  for at, element in ipairs(line) do
    local new = element.t == 'Cite' and references(element) or pandoc.List { element }
    if element.t == 'Cite' and begins_sentence(line, at) then
      new[1].content[1].text = new[1].content[1].text:gsub('^%l', string.upper)
    end
    out:extend(new)
  end
  return out
end

local function only_labels(doc)
  if labels_file then return nil end
  return pandoc.Pandoc({ pandoc.RawBlock('plain', table.concat(labels, '\n')) })
end

return {
  { Header = header, RawBlock = figure, CodeBlock = listing, Table = numbered_table },
  { Inlines = all_references, RawBlock = caption_references, Pandoc = only_labels },
}
