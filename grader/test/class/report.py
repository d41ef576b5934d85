# Looks at the pages of a class's report with Python's own parser.
#
#     report.py inert PAGE...        what a page could load or run, and what is not well formed; nothing: it is inert
#     report.py compare GRADES       where the pages and the gradebook differ; nothing: they agree (pages = "graded")
#     report.py rows PAGE CAPTION    the rows of a table, cells with | between them
#     report.py words PAGE           the text of the page, of its <pre> as it is
import collections, csv, html.parser, math, os, re, sys

VOID = {'meta'}
ELEMENTS = set('html head meta title style body header div main h1 h2 p a span table caption thead tbody tr th td pre samp code ul li'.split())
ATTRIBUTES = set('lang charset http-equiv content name class id href scope role tabindex aria-label style'.split())
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.path, self.open, self.amiss, self.ids, self.links, self.tables, self.text = path, [], [], [], [], {}, []
        self.policy = self.rows = self.cell = None
        source = open(path, 'rb').read().decode('utf-8')        # strict
        if not source.startswith('<!DOCTYPE html>\n'):
            self.amiss.append('begins with no doctype')
        self.feed(source)
        self.close()
        if self.open:
            self.amiss.append(f'is not closed: {self.open}')

    def handle_starttag(self, tag, attributes):
        if tag not in ELEMENTS:
            self.amiss.append(f'has an element {tag}')
        names = [name for name, _ in attributes]
        if len(set(names)) < len(names) or set(names) - ATTRIBUTES:
            self.amiss.append(f'has attributes {names}')
        a = dict(attributes)
        if 'style' in a and not re.fullmatch(r'--part: [01]\.\d{3}', a['style']):
            self.amiss.append(f'has a style {a["style"]}')
        if a.get('http-equiv') == 'Content-Security-Policy':
            self.policy = a['content']
        self.ids += [a['id']] if 'id' in a else []
        self.links += [a['href']] if 'href' in a else []
        if tag == 'tr' and 'tbody' in self.open:
            self.rows.append([])
        if tag in ('td', 'th') and 'tbody' in self.open:
            self.rows[-1].append('')
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.amiss.append(f'closes {tag}, which is not open')

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.amiss.append(f'has <{tag}/>')

    def handle_decl(self, words):
        if words != 'DOCTYPE html':
            self.amiss.append(f'has <!{words}>')

    def handle_comment(self, words):
        self.amiss.append(f'has a comment: {words}')

    unknown_decl = handle_pi = handle_comment

    def handle_data(self, data):
        if 'style' in self.open:
            return
        if self.open and self.open[-1] == 'caption':
            self.rows = self.tables.setdefault(data, [])
        if 'tbody' in self.open and ('td' in self.open or 'th' in self.open):
            self.rows[-1][-1] += data
        self.text.append(data)
        if re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]', data):
            self.amiss.append(f'has a control character in {data!r}')


def inert(path):
    page = Page(path)
    if page.policy != POLICY:
        page.amiss.append(f'has the policy {page.policy}')
    if len(set(page.ids)) < len(page.ids):
        page.amiss.append('has an id twice')
    for link in page.links:
        there = link[1:] in page.ids if link[0] == '#' else os.path.exists(os.path.join(os.path.dirname(path), link))
        if not there or not re.fullmatch(r'#[0-9a-z-]+|[0-9a-f]{12}\.html', link):
            page.amiss.append(f'links to {link}')
    css = open(path).read().split('<style>')[1].split('</style>')[0]
    if re.search(r'url\(|@import|</', css):
        page.amiss.append('has a style sheet that loads')
    return page.amiss


def read(path):
    with open(path, newline='') as f:
        return list(csv.DictReader(f))


def expect(where, said, is_):
    if said != is_:
        print(f'{where}: the page has {said}, the gradebook {is_}')


def compare(grades):
    name = {row['pseudonym']: row['student'] for row in read(f'{grades}/pseudonyms.csv')}
    book, marks = read(f'{grades}/gradebook.csv'), {row['student']: row for row in read(f'{grades}/marks.csv')}
    lessons = sorted({row['lesson'] for row in book})

    # By a name as the gradebook has it, or by the pseudonym (names = "hidden").
    def called(words):
        return name.get(words, words)

    index = Page(f'{grades}/report/index.html')
    compared = 0
    for row in index.tables['Points']:
        mark = marks[called(row[0])]
        expect(f'index.html, {row[0]}', row[1:], [mark[k] for k in ['total', 'late_days_spent', *lessons]])
        compared += 1
    expect('index.html, students', len(index.tables['Points']), len(marks))
    for pseudonym, student in name.items():
        page = Page(f'{grades}/report/{pseudonym}.html')
        for row, of in zip(page.tables['Lessons'], [r for r in book if r['student'] == student], strict=True):
            said = [row[0], row[1], row[2], row[3], row[5], row[6]]
            expect(pseudonym, said, [of[k] for k in ['lesson', 'verdict', 'step', 'points', 'gold', 'late_days']])
            compared += 1
        total = marks[student]['total']
        expect(pseudonym, bool(re.search(rf'Total: {re.escape(total)} %', ''.join(page.text))), bool(total))
    for lesson in lessons:
        of = [row for row in book if row['lesson'] == lesson]
        counts = collections.Counter((row['verdict'], row['step']) for row in of)
        said = {(r[0], r[1]): int(r[2]) for r in index.tables[f'{lesson}: verdicts']}
        expect(f'index.html, {lesson}', said, dict(counts))
        steps = next(r for r in index.tables['Students who pass, have gold, and have reached a step and none beyond'] if r[0] == lesson)
        reached = collections.Counter(row['step'] for row in of)
        expect(f'index.html, {lesson}, steps', [int(x) for x in steps[1:]],
               [sum(row['verdict'] == 'PASS' for row in of), sum(row['gold'] == 'yes' for row in of)] +
               [reached[str(n)] for n in range(len(steps) - 3)])
        caption = next(c for c in index.tables if c.startswith(f'{lesson}: points, of '))
        expect(f'index.html, {lesson}, points', [(r[0], r[1]) for r in index.tables[caption]],
               bins([row['points'] for row in of if row['verdict'] != 'EXCUSED'], float(caption.split(' of ')[1])))
        compared += 3
    expect('index.html, totals', [(r[0], r[1]) for r in index.tables['Totals, in per cent']],
           bins([row['total'] for row in marks.values()], 100))
    lacking = sorted((called(r[0]), r[1], r[2]) for r in index.tables['Marks without a verdict'])
    states = {'MISSING', 'REFUSED', 'UNTRUSTED', 'GRADER-ERROR'}
    expect('index.html, lacking', lacking, sorted((r['student'], r['lesson'], r['verdict']) for r in book if r['verdict'] in states))
    if compared < 10:
        print(f'only {compared} were compared')


# Zero, tenths of the full points, more, not known: as the page has them.
def bins(points, full):
    count = collections.Counter('not known' if p == '' else 0 if float(p) <= 0 else 11 if float(p) > full else
                                math.ceil(round(float(p) * 10 / full, 6)) for p in points)
    rows = [(f'{full * n / 10:.2f}'.rstrip('0').rstrip('.'), str(count[n])) for n in range(11)]
    return rows + [(w, str(count[k])) for w, k in (('more', 11), ('not known', 'not known')) if count[k]]


what, *rest = sys.argv[1:]
if what == 'inert':
    for path in rest:
        for words in inert(path):
            print(f'{path} {words}')
elif what == 'compare':
    compare(*rest)
elif what == 'rows':
    for row in Page(rest[0]).tables[rest[1]]:
        print('|'.join(row))
elif what == 'words':
    print(''.join(Page(rest[0]).text))
