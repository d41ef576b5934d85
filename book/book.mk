# The book: lessons/*.md and book/*.md, a page each. What students don't need, the chapter for instructors, comes last.

pages      := index $(lessons) $(basename $(filter-out index.md teaching.md,$(notdir $(wildcard book/*.md)))) instructions accuracy teaching
book_files := build/book/style.css build/book/book.js

.PHONY: book book-pdf labels

book: $(pages:%=build/book/%.html) $(book_files) build/book/warpwise.epub    ## the book, as web pages and EPUB in build/book/
	@echo 'The book: build/book/index.html and build/book/warpwise.epub'

book-pdf: build/book/warpwise.pdf                           ## the book as a PDF (needs Chromium)
	@echo 'The book: build/book/warpwise.pdf'

read-%: FORCE                                           ## read lesson N, in a browser or here; ANSWERS=1: here, with the answers; ALL=1: with all that is folded; VERSION=2: that version of the solution
	$(known)
	@sh book/read.sh $(call name,$*) env $(book_env) $(plain)

# ---- How it is built

# Where the text of a page is.
text = $(firstword $(wildcard lessons/$1.md book/$1.md) build/book/$1.md)

# What it quotes, and what is drawn in it.
quoted = $(wildcard solutions/$1.cu profiles/figures/$1.txt profiles/figures/$1-*.txt) book/plot.awk book/timeline.awk

# The pictures of a page: those of grader/pictures/, and what the lesson's solution makes of them.
pictured := $(basename $(notdir $(shell grep -l '<img src="pictures/' lessons/*.md)))
pictures  = $(if $(filter $1,$(pictured)),build/book/pictures/$1.json)

build/book/pictures/%.json: solutions/%.cu build/grader/% $(wildcard grader/pictures/*.png) | $$(call grading,$$(patsubst 0%,%,$$(firstword $$(subst -, ,$$*))))
	@mkdir -p $(@D)
	@cp $(filter %.png,$^) $(@D)
	@DEVICE=simulator/run build/grader/$* --result $@ $< >$(@D)/$*.log || { cat $(@D)/$*.log; exit 1; }

book_parts := book/common.lua book/numbers.lua book/regions.lua book/quotes.lua book/verdicts.md build/book/labels.txt
book_env   := BOOK_CONTENTS=build/book/contents BOOK_LABELS=build/book/labels.txt
pandoc     := pandoc --fail-if-warnings --standalone
filters     = --from markdown --lua-filter book/numbers.lua --lua-filter book/quotes.lua --lua-filter $1
colours    := --mathml --syntax-definition book/cuda.xml

$(book_files): build/book/%: book/%
	@mkdir -p $(@D)
	@cp $< $(whole)

build/book/%.html: $$(call text,$$*) $$(call quoted,$$*) $$(call pictures,$$*) $(book_parts) book/web.lua book/template.html book/cuda.xml
	$(call once,book,Building the book)
	@$(book_env) $(pandoc) $(call filters,book/web.lua) $(colours) --to html5 --toc --toc-depth=2 \
	    --template book/template.html $< -o $(whole)

# A lesson as a terminal shows it; book/read.sh adds how wide that is.
plain := pandoc --fail-if-warnings --from markdown-smart --lua-filter book/numbers.lua --lua-filter book/terminal.lua --to plain --tab-stop 2

# The page of lesson N, and what it needs.
page-%: $$(if $$(call name,$$*),build/book/$$(call name,$$*).html $(book_files)) FORCE
	$(known)

# The bound book: every page as a chapter of one document, which makes the EPUB and the PDF.
bound := $(pages:%=build/book/bound/%.json)

build/book/bound/%.json: $$(call text,$$*) $$(call quoted,$$*) $$(call pictures,$$*) $(book_parts) book/bound.lua
	@mkdir -p $(@D)
	@$(book_env) $(pandoc) $(call filters,book/bound.lua) --to json $< -o $(whole)

bound_as = $(pandoc) --resource-path build/book --wrap none $(colours) --metadata-file book/bound.yaml $(bound)

build/book/warpwise.epub: $(bound) book/bound.yaml book/epub.sh book/epub.css book/cover.svg book/cuda.xml
	$(call once,book,Building the book)
	@sh book/epub.sh $@ $(bound_as) --to epub3 --toc --toc-depth=2 --epub-chapter-level=1 \
	    --highlight-style monochrome --css book/epub.css --epub-cover-image book/cover.svg

build/book/warpwise.pdf: $(bound) book/bound.yaml book/print.lua book/print.html book/pdf.sh book/browser.sh book/cuda.xml \
        build/book/print.css $(book_files) | build/setup/pdf
	$(call once,pdf,Printing the book)
	@sh book/pdf.sh $@ $(bound_as) --to html5 --lua-filter book/print.lua --template book/print.html

build/book/print.css: book/print.css
	@cp $< $(whole)

# Ends a command that has written $@.$$$$, a name that no other make has: it becomes $@ only if that has another content.
changed = cmp -s $@.$$$$ $@ || mv $@.$$$$ $@; rm -f $@.$$$$

# The labels that pages point to; a new file only when one of them changes.
build/book/labels/%: $$(call text,$$*) book/common.lua book/numbers.lua build/book/contents
	@mkdir -p $(@D)
	@BOOK_CONTENTS=build/book/contents pandoc --lua-filter book/numbers.lua --to plain $< -o $(whole)

build/book/labels.txt: $(pages:%=build/book/labels/%)
	@cat $^ >$@.$$$$; $(changed)

labels: build/book/labels.txt
	@:

# The pages in order, with their titles; a new file only when something in it changes.
build/book/contents: build/book/instructions.md build/book/accuracy.md FORCE | build/setup/book
	@mkdir -p $(@D)
	@for page in $(pages); do \
	    file=$$(ls lessons/$$page.md book/$$page.md build/book/$$page.md 2>/dev/null | head -n 1); \
	    title=$$(sed -n '/^# /{ s/^# *//; s/ *{.*}$$//; s/[`*]//g; p; q; }' "$$file"); \
	    printf '%s\t%s\n' "$$page" "$$title"; \
	done >$@.$$$$; $(changed)

build/book/accuracy.md: profiles/accuracy/nvidia-h200.md
	@mkdir -p $(@D)
	@cp $< $(whole)

# The simulator's instruction table, spelt out by the preprocessor from the rows that the executor has.
build/book/instructions.md: book/instructions.sh $(wildcard simulator/isa/*.def)
	@mkdir -p $(@D)
	@sh book/instructions.sh simulator/isa/isa.def >$(whole)
