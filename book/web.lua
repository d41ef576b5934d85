-- The book as web pages: hints fold, the quiz answers by itself, and the template is told which page this is.

local common = dofile('book/common.lua')
local html, escape = common.html, common.escape

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

local function option(choice, kind, question, i)
  local id = ('q%d-%d'):format(question, i)
  local content = pandoc.List({ pandoc.RawInline('html',
    ('<input type="%s" name="q%d" id="%s" class="%s"><label for="%s">'):format(
      kind, question, id, choice.class, id)) })
  content:extend(choice.words)
  content:insert(pandoc.RawInline('html', '</label>'))
  return pandoc.Plain(content)
end

-- The inputs come before the explanation, as its siblings: so CSS alone can show it once the answer is right.
local function question(read, number, count)
  local out = pandoc.List({ html(('<fieldset class="question"><legend>Question %d of %d</legend>')
    :format(number, count)) })
  out:extend(read.text)
  local kind = read.options.right > 1 and 'checkbox' or 'radio'
  for i, choice in ipairs(read.options) do out:insert(option(choice, kind, number, i)) end
  out:insert(html('<div class="explanation" role="status">'))
  out:extend(read.explanation)
  out:insert(html('</div></fieldset>'))
  return out
end

local function quiz(blocks)
  return common.quiz(blocks, question)
end

-- ---- The page --------------------------------------------------------------------------------------------

local function lessons_list(list)
  local out = { '<ol class="contents">' }
  for _, page in ipairs(list) do
    if page.lesson then
      out[#out + 1] = ('<li value="%s"><a href="%s.html"><span class="number">%s</span> %s</a></li>'):format(
        page.number, page.name, page.number, page.title)
    end
  end
  out[#out + 1] = '</ol>'
  return html(table.concat(out))
end

local function navigation(meta)
  meta.pages = common.pages()
  for i, page in ipairs(meta.pages) do
    if page.current then
      meta.label, meta.prev, meta.next = page.label, meta.pages[i - 1], meta.pages[i + 1]
    end
  end
end

local function page(doc)
  local meta = doc.meta
  meta.title = common.title(doc)
  meta.pagetitle = pandoc.utils.stringify(meta.title)
  navigation(meta)
  local list = common.pages()
  local blocks = doc.blocks:map(function(block)
    return block.t == 'Div' and block.identifier == 'contents' and lessons_list(list) or block
  end)
  return pandoc.Pandoc(common.by_section(blocks, { hints = hints, quiz = quiz }), meta)
end

return {
  { Table = scrolling_table, Div = division },
  { Pandoc = page },
}
