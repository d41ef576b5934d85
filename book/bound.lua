-- A page as a chapter of the bound book, of which the PDF and the EPUB are made: nothing folds, the quiz's
-- answers stand behind its questions, and since all chapters are one document, each identifier has its
-- chapter's name in front.

local common = dofile('book/common.lua')
local html = common.html
local here = common.this_page()

-- ---- What folds on the web -------------------------------------------------------------------------------

local function answer(element)
  if not element.classes:includes('answer') then return nil end
  local title = element.attributes.title or 'Answer'
  element.attributes.title = nil
  element.content:insert(1, pandoc.Para({ pandoc.Strong(title) }))
  return element
end

local function hints(blocks)
  return { pandoc.Div(blocks, { class = 'hints' }) }
end

local function choices(options)
  return pandoc.BulletList(options:map(function(choice)
    local words = pandoc.List({ pandoc.Str('○'), pandoc.Space() })
    words:extend(choice.words)
    return { pandoc.Plain(words) }
  end))
end

-- The questions as one numbered list, then the answers as another.
local function quiz(blocks)
  local out, questions, answers = common.quiz_apart(blocks, function(options)
    return pandoc.Div({ choices(options) }, { class = 'options' })
  end)
  out:insert(pandoc.Div({ questions }, { class = 'questions' }))
  out:insert(pandoc.Header(3, 'Answers', { id = 'quiz-answers' }))
  out:insert(pandoc.Div({ answers }, { class = 'answers' }))
  return out
end

-- ---- One document of all pages ---------------------------------------------------------------------------

-- Begins with a letter, as XML asks: newer pandocs rename what does not, but not where raw HTML points to it.
local function of_page(name)
  return 'page-' .. name
end

local function own(identifier)
  return identifier ~= '' and of_page(here.name) .. '-' .. identifier or ''
end

-- `05-transpose.html#banks` is `#page-05-transpose-banks` here.
local function place(link)
  if link:match('^%a+:') then return nil end
  local page, anchor = link:match('^(.-)%.html(.*)$')
  if not page then page, anchor = here.name, link end
  return '#' .. of_page(page) .. anchor:gsub('^#', '-')
end

local function link(element)
  element.target = place(element.target) or element.target
  return element
end

local function identify(element)
  element.identifier = own(element.identifier)
  return element
end

-- XHTML has a name space for drawings, and knows no keyboard.
local function raw(block)
  if block.format ~= 'html' then return nil end
  local text = block.text:gsub(' href="(.-)"', function(link) return ' href="' .. (place(link) or link) .. '"' end)
    :gsub(' id="(.-)"', function(id) return ' id="' .. own(id) .. '"' end)
    :gsub(' aria%-labelledby="(.-)"', function(id) return ' aria-labelledby="' .. own(id) .. '"' end)
    :gsub('url%(#', 'url(#' .. of_page(here.name) .. '-')
    :gsub(' tabindex="0"', '')
    :gsub('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
  return html(text)
end

local function code(block)
  block.attributes.tabindex = nil
  return identify(block)
end

local function lessons_list()
  local items = pandoc.List()
  for _, page in ipairs(common.pages()) do
    if page.lesson then
      items:insert({ pandoc.Plain({ pandoc.Str(page.label .. ': '), pandoc.Link(page.title, '#' .. of_page(page.name)) }) })
    end
  end
  return pandoc.BulletList(items)
end

local function division(element)
  return element.identifier == 'contents' and lessons_list() or identify(element)
end

local function chapter(doc)
  local title = common.title(doc)
  local blocks = common.by_section(doc.blocks, { hints = hints, quiz = quiz })
  if here.label then
    title = pandoc.List({ pandoc.Span({ pandoc.Str(here.label), pandoc.Span(': ', { class = 'colon' }) }, { class = 'eyebrow' }) }) .. title
  end
  local chapter = pandoc.walk_block(pandoc.Div(blocks), { Link = link, Header = identify, Span = identify,
    Div = division, RawBlock = raw, CodeBlock = code })
  local out = pandoc.List({ pandoc.Header(1, title, { id = of_page(here.name) }) })
  out:extend(chapter.content)
  return pandoc.Pandoc(out, { subtitle = doc.meta.subtitle })
end

return {
  { Div = answer },
  { Pandoc = chapter },
}
