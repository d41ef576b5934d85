"""A class to rehearse with: submissions of what this project has, drawn by a seed.

Each is a folder or an archive, named "NNN kind lesson what". A kind's files are dealt like cards, so that a large class has all of
them: each version of each solution, each wrong submission, each that cheats.
"""
import ctypes, ctypes.util, glob, gzip, io, os, random, re, subprocess, tarfile, tempfile, zipfile

# What share of a class is of a kind.
SHARES = {'step': 35, 'skeleton': 8, 'mutant': 27, 'attack': 10, 'archive': 12, 'hostile': 4, 'garbage': 4}


def text_of(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def stated(path, word):
    """The verdict that a submission's comments state: `expect`, at home, or `class`, as in a class (grader/try.sh)."""
    for line in open(path, encoding='utf-8'):
        if line.startswith(f'// {word}: '):
            return line.split()[2].replace('STEP', 'SLOW')
    return None


class Deck:
    """Draws each card once, in an order of the seed, and then again."""

    def __init__(self, cards, draw):
        self.cards, self.draw, self.left = sorted(cards), draw, []

    def take(self):
        if not self.left:
            self.left = self.cards[:]
            self.draw.shuffle(self.left)
        return self.left.pop()


def versions(solution):
    last = re.search(r'^#define VERSION (\d+)', open(solution, encoding='utf-8').read(), re.M)
    return [(solution, n) for n in range(1, int(last[1]) + 1)]


def step_bytes(solution, version):
    text = re.sub(r'^[ \t]*//[<>|].*\n', '', open(solution, encoding='utf-8').read(), flags=re.M)
    return re.sub(r'^#define VERSION .*', f'#define VERSION {version}', text, flags=re.M).encode()


def write_7z(path, name, data):
    write_archive(path, name, data, 'set_format_7zip')


def write_archive(path, name, data, *kinds):
    """By libarchive, which `make grade` reads it with as well. Kinds are its functions, archive_write_... without arguments."""
    lib = ctypes.CDLL(ctypes.util.find_library('archive'))
    for call in ('archive_write_new', 'archive_entry_new'):
        getattr(lib, call).restype = ctypes.c_void_p
    lib.archive_write_data.restype = ctypes.c_ssize_t
    archive, entry = (ctypes.c_void_p(p) for p in (lib.archive_write_new(), lib.archive_entry_new()))
    lib.archive_entry_set_pathname(entry, name.encode())
    lib.archive_entry_set_size(entry, ctypes.c_int64(len(data)))
    lib.archive_entry_set_filetype(entry, 0o100000)
    lib.archive_entry_set_perm(entry, 0o644)
    good = all(getattr(lib, 'archive_write_' + kind)(archive) == 0 for kind in kinds) \
        and lib.archive_write_open_filename(archive, path.encode()) == 0 and lib.archive_write_header(archive, entry) == 0 \
        and lib.archive_write_data(archive, data, ctypes.c_size_t(len(data))) == len(data)
    if lib.archive_write_free(archive) != 0 or not good:
        raise OSError(f'{path}: libarchive cannot write it')


def pack(path, suffix, name, data):
    """An archive with one file. It is the same each time, and so has no date."""
    if suffix == 'zip':
        with zipfile.ZipFile(f'{path}.zip', 'w') as archive:
            archive.writestr(zipfile.ZipInfo('exercises/' + name), data, zipfile.ZIP_DEFLATED)
    elif suffix == '7z':
        write_7z(f'{path}.7z', name, data)
    else:
        with open(f'{path}.{suffix}', 'wb') as file, gzip.GzipFile('', 'wb', fileobj=file, mtime=0) as packed, \
                tarfile.open(fileobj=packed, mode='w') as archive:
            info = tarfile.TarInfo('handed in/' + name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def garbage_of(draw, whole):
    return {'nothing': b'', 'zeros': bytes(5000), 'noise': draw.randbytes(20000), 'words': b'I could not do it. Sorry!\n',
            'utf-16': whole.decode().encode('utf-16'), 'half': whole[:len(whole) // 2]}


class Submissions:
    """What a class is made of, of one lesson or of all (`lesson` None)."""

    def __init__(self, seed, lesson, scratch):
        self.draw = random.Random(seed)
        self.lessons = [name_of(path) for path in sorted(glob.glob('lessons/[0-9]*.md'))
                        if lesson in (None, int(name_of(path)[:2]))]
        if not self.lessons:
            raise SystemExit(f'rehearse: there is no lesson {lesson}.')
        of = lambda room: [p for l in self.lessons for p in sorted(glob.glob(f'grader/{room}/{l}/*.*')) if p[-3:] != '.h']
        solutions = [f'solutions/{l}.cu' for l in self.lessons]
        decks = {'step': [step for s in solutions for step in versions(s)], 'skeleton': solutions,
                 'mutant': [p for p in of('wrong') if stated(p, 'expect')],
                 'attack': [p for p in of('attacks') if stated(p, 'class')],
                 'archive': ['zip', 'tar.gz', '7z'], 'garbage': list(garbage_of(random.Random(0), b''))}
        if self.lessons[0].startswith('01-'):
            text_of('python3', 'grader/test/class/archives.py', scratch) # of lesson 1, all of them
            decks['hostile'] = [f'{scratch}/{name}' for name in os.listdir(scratch)]
        self.decks = {kind: Deck(cards, self.draw) for kind, cards in decks.items() if cards}

    def whole(self, kind):
        """A file of that kind: the lesson, which one it is, its bytes, and the verdict that it must get, if that is known."""
        card = self.decks[kind].take()
        if kind == 'step':
            solution, version = card
            last = versions(solution)[-1][1]
            return name_of(solution), f'version {version}', step_bytes(*card), 'PASS' if version == last else None
        if kind == 'skeleton':
            return name_of(card), 'untouched', text_of('awk', '-f', 'solutions/strip.awk', card), None
        verdict = stated(card, 'expect' if kind == 'mutant' else 'class')
        return card.split('/')[2], name_of(card), text_of('sh', 'grader/wrong.sh', card), verdict

    def make(self, number, folder):
        """Hands in submission `number` in the class's folder. Returns the student's name, the lesson, and the verdict, as whole()."""
        kind = self.draw.choices(list(self.decks), [SHARES[k] for k in self.decks])[0]
        if kind == 'hostile':
            path = self.decks[kind].take()
            student = f'{number:03} hostile ' + os.path.basename(path)
            os.link(path, f'{folder}/{student}')
            return student.split('.')[0], None, None
        lesson, what, data, verdict = self.whole(kind if kind in ('step', 'skeleton', 'mutant', 'attack') else
                                                 self.draw.choice([k for k in ('step', 'mutant') if k in self.decks]))
        if kind == 'garbage':
            what, verdict = self.decks[kind].take(), None
            data = garbage_of(self.draw, data)[what]
        student = f'{number:03} {kind} {lesson} {what}'
        if kind == 'archive':
            pack(f'{folder}/{student}', self.decks[kind].take(), lesson + '.cu', data)
        else:
            os.mkdir(f'{folder}/{student}')
            with open(f'{folder}/{student}/{lesson}.cu', 'wb') as file:
                file.write(data)
        return student, lesson, verdict


def make_class(folder, count, seed, lesson):
    """Makes a class of `count`. Returns {student: (lesson, verdict)}."""
    os.makedirs(folder)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as scratch:
        submissions = Submissions(seed, lesson, scratch)
        made = [submissions.make(number, folder) for number in range(1, count + 1)]
    return {student: (lesson, verdict) for student, lesson, verdict in made}
