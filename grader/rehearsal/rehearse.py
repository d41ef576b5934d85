"""Rehearses `make grade`: makes a class of submissions, grades it, and says how long that takes here.

    make rehearse [COUNT=300] [SEED=1] [LESSON=5] [KILLS=10]

With KILLS the class is graded once more, and that run is killed with SIGKILL as often, at moments of the seed, and begun again:
main alone, its process group, or all its processes. What both runs leave in their folders must be the same, byte for byte.

All of it has a /tmp, mounts, IPC and a network of its own, so that whatever is in them afterwards was left there by a run. The
processes that a killed run leaves become children of this one.
"""
import argparse, collections, csv, ctypes, filecmp, glob, json, os, random, re, shutil, signal, subprocess, sys, threading, time
from submissions import make_class

PR_SET_CHILD_SUBREAPER = 36
OWN = 'WARPWISE_REHEARSAL'  # set within the namespaces
HIDDEN = ('/tmp', '/var/tmp', '/dev/shm')
HERE = (os.getcwd() + '/', os.path.dirname(os.path.realpath('grader')) + '/')  # and what this tree's links lead to

# Whose work a process does, by its name; the graders have their lesson's.
WORK = {'compiler': 'nvcc cicc ptxas cudafe++ fatbinary nvlink bin2c gcc g++ cc1plus cpp as ld collect2 x86_64-linux-gn',
        'simulated device': 'device run', 'program': 'worker', 'sandbox': 'sandbox bwrap'}
WORK_OF = {name: work for work, names in WORK.items() for name in names.split()}


def become_apart():
    """Begins this program again in namespaces of its own."""
    if OWN in os.environ:
        return
    words = ['bwrap', '--dev-bind', '/', '/', '--unshare-ipc', '--unshare-net', '--setenv', OWN, '1', '--cap-add', 'ALL']
    for path in HIDDEN:
        words += ['--perms', '1777', '--tmpfs', path]
    # The project and the toolkit may lie there. Other users may go to them.
    for path in map(os.path.realpath, (__file__ + '/../../..', os.getcwd(), os.environ.get('CUDA_HOME', '/usr'))):
        if path.startswith(tuple(hidden + '/' for hidden in HIDDEN)):
            parts = path.split('/')
            for n in range(3, len(parts)):
                words += ['--perms', '0755', '--dir', '/'.join(parts[:n + 1])]
            words += ['--bind', path, path]
    os.execvp('bwrap', words + ['--', sys.executable, '-B'] + sys.argv)


# ---- Processes

def processes():
    """{pid: (parent, name, state)} of the machine's."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            stat = open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace').read()
        except OSError:
            continue
        name, rest = stat[stat.index('(') + 1:stat.rindex(')')], stat[stat.rindex(')') + 2:].split()
        found[int(pid)] = int(rest[1]), name, rest[0]
    return found


seen = set()  # the numbers of all processes that were below this one, as far as it has looked


def descendants(root=None):
    """{pid: (name, state)} of all processes below this one, or another."""
    all_, found = processes(), {}
    children = collections.defaultdict(list)
    for pid, (parent, name, state) in all_.items():
        children[parent].append(pid)
    below = list(children[root or os.getpid()])
    for pid in below:
        found[pid] = all_[pid][1:]
        below += children[pid]
    seen.update(found)
    return found


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def survivors(seconds=5):
    """Names of the processes that still are there after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        reap()
        left = descendants()
        if not left or time.monotonic() > end:
            return sorted(name for name, _ in left.values())
        time.sleep(0.05)


class Sampler(threading.Thread):
    """Looks several times a second which processes of a run want a core, and counts whose work they do."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root, self.counts, self.ended = root, collections.Counter(), threading.Event()

    def run(self):
        while not self.ended.wait(0.2):
            for name, state in descendants(self.root).values():
                if state in 'RD':
                    self.counts[WORK_OF.get(name, 'grader' if name[:2].isdigit() else 'others')] += 1

    def shares(self):
        whole = sum(self.counts.values()) or 1
        return ', '.join(f'{work} {100 * n / whole:.0f} %' for work, n in self.counts.most_common())


# ---- Runs

def start(submissions, grades):
    return subprocess.Popen(['build/grader/class', submissions, grades], stdout=open(grades + '.log', 'ab'), stderr=subprocess.STDOUT,
                            start_new_session=True)


def grade(submissions, grades):
    """Grades the class. Returns the seconds by the clock, the processor's, and whose work took them."""
    began = time.monotonic()
    run = start(submissions, grades)
    sampler = Sampler(run.pid)
    sampler.start()
    status, usage = os.wait4(run.pid, 0)[1:]
    sampler.ended.set()
    sampler.join()
    if status:
        raise SystemExit(open(grades + '.log', encoding='utf-8').read() + f'The run ended with {os.waitstatus_to_exitcode(status)}.')
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, sampler.shares()


def kill(run, way, draw):
    """Kills a run. Returns whether it was still running."""
    pids = [run.pid] + list(descendants(run.pid))
    if run.poll() is not None:
        return False
    if way == 'main':
        os.kill(run.pid, signal.SIGKILL)
    elif way == 'group':
        os.killpg(run.pid, signal.SIGKILL)
    else:
        draw.shuffle(pids)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    run.wait()
    return True


def results(grades):
    return len(glob.glob(grades + '/results/*/*.json'))


def grade_killed(submissions, grades, kills, draw, count, seconds):
    """Grades the class with so many kills, each after some result and some of the time that one takes. Returns how many of each way
    there were, and which processes outlived their run."""
    ways, left = collections.Counter(), []
    for moment in sorted(draw.uniform(0, 0.9 * count) for _ in range(kills)):
        way = draw.choice(['main', 'group', 'all'])
        run = start(submissions, grades)
        while run.poll() is None and results(grades) < int(moment):
            time.sleep(0.02)
        time.sleep(moment % 1 * seconds)
        if kill(run, way, draw):
            ways[way] += 1
            left += survivors()
    run = start(submissions, grades)
    if run.wait():
        raise SystemExit(open(grades + '.log', encoding='utf-8').read())
    return ways, left


# ---- What is compared

def files_below(folder):
    return {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}


def mark_of(path):
    result = json.load(open(path, encoding='utf-8'))
    return [result.get(part) for part in ('verdict', 'step', 'points', 'gold', 'seed')]


def has_threads(grades, path):
    """Has the host threads of its own? Which of them comes first hangs on the machine, and so do counts of what waits for others."""
    hash_ = json.load(open(path, encoding='utf-8')).get('class', {}).get('hash', '')
    return any(re.search(r'\bpthread_create\b|\bstd::j?thread\b|\bstd::async\b', open(source, encoding='utf-8', errors='replace').read())
               for source in glob.glob(f'{grades}/sealed/{hash_}/exercises/*'))


def hangs_on_time(one, two, name):
    """Is what differs in a result due to the order of the host's own threads, or to when a program without end was stopped?"""
    first, second = (os.path.splitext(os.path.join(grades, name))[0] + '.json' for grades in (one, two))
    return name.startswith('results/') and os.path.exists(first) and mark_of(first) == mark_of(second) and (
        has_threads(one, first) or mark_of(first)[0] == 'TIMEOUT')


def differences(one, two):
    """The files of two folders that are not in both, or not the same; and how many others hang on time (hangs_on_time)."""
    first, second = files_below(one), files_below(two)
    other = filecmp.cmpfiles(one, two, sorted(first & second), shallow=False)[1]
    timed = [name for name in other if hangs_on_time(one, two, name)]
    return sorted(first ^ second) + [name for name in other if name not in timed], len(timed)


def is_in_use(path):
    """Whether a path under build/run, of a lesson, a machine and a process, is of a process that there is: a grader that works in this
    folder beside the rehearsal."""
    number = path.partition('@')[2].partition('/')[0].rpartition('.')[2]
    return number.isdigit() and os.path.exists('/proc/' + number)


def traces():
    """What a run could leave: {kind: set}, but for processes."""
    unix = [line.split()[7:] for line in open('/proc/net/unix', encoding='utf-8', errors='replace').readlines()[1:]]
    return {
        'files': {os.path.join(at, name) for top in HIDDEN + ('build/run',) for at, folders, names in os.walk(top)
                  for name in names + folders if not os.path.join(at, name).startswith(HERE)
                  and not is_in_use(os.path.join(at, name))},
        'mounts': {line.split()[4] for line in open('/proc/self/mountinfo', encoding='utf-8')},
        'cgroups': set(glob.glob('/sys/fs/cgroup/**/warpwise-*/', recursive=True)),
        'sockets': {' '.join(path) for path in unix},
        'IPC': {kind + line for kind in ('shm', 'sem', 'msg') for line in open('/proc/sysvipc/' + kind, encoding='utf-8').readlines()[1:]}
    }


def verdicts(grades, students):
    """How many rows have each verdict, and the rows whose verdict isn't the stated one."""
    counts, others = collections.Counter(), []
    for row in csv.DictReader(open(grades + '/gradebook.csv', encoding='utf-8', newline='')):
        lesson, stated = students[row['student']]
        if row['verdict'] == 'MISSING' or lesson not in (None, row['lesson']):
            continue
        counts[row['verdict'] or 'none'] += 1
        if stated not in (None, row['verdict']):
            others.append(f"{row['student']}: {row['verdict']}, stated is {stated}")
    return counts, others


def rehearse(folder, count, seed, kills, lesson):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    shutil.rmtree(folder, ignore_errors=True)
    submissions, once, killed = (f'{folder}/{name}' for name in ('class', 'once', 'killed'))
    students = make_class(submissions, count, seed, lesson)
    before = traces()

    cores = os.cpu_count()
    clock, processor, shares = grade(submissions, once)
    print(f'Graded {count} submissions (seed {seed}) in {clock:.0f} s: {60 * count / clock:.1f} a minute.')
    print(f'Each took {processor / count:.1f} s of a processor: {60 * cores * count / processor:.1f} a minute on {cores} idle cores.')
    print(f'Who worked: {shares}.')
    counts, failed = verdicts(once, students)
    print('Verdicts: ' + ', '.join(f'{verdict} {n}' for verdict, n in counts.most_common()) + '.')

    if kills:
        os.mkdir(killed)
        shutil.copy(once + '/secret', killed)  # seeds and pseudonyms come from it
        ways, left = grade_killed(submissions, killed, kills, random.Random(seed), results(once), clock / results(once))
        other, timed = differences(once, killed)
        print(f'Killed {sum(ways.values())} times: ' + ', '.join(f'{way} {n}' for way, n in sorted(ways.items())) + '.')
        print(f'{len(files_below(once)) - timed} files are the same, byte for byte.' if not other else 'Not the same: ' + ', '.join(other))
        if timed:
            print(f'{timed} results of programs whose hosts have threads, or that were stopped, give the same mark, with other counts of what waits.')
        failed += other + [f'a process is left: {name}' for name in left]
    failed += [f'a process is left: {name}' for name in survivors()]
    for kind, now in traces().items():
        for what in sorted(now - before[kind]):
            if kind != 'cgroups' or int(what[:-1].split('-')[-1]) in seen:  # other graders make cgroups, too
                failed.append(f'{kind} are left: {what}')
    print('Nothing is left on the machine: no process, file, mount, cgroup, socket or IPC.' if not failed else '\n'.join(failed))
    return bool(failed)


def main():
    options = argparse.ArgumentParser(prog='make rehearse')
    for name, otherwise in (('count', 300), ('seed', 1), ('kills', 0), ('lesson', None)):
        options.add_argument('--' + name, type=int, default=otherwise)
    o = options.parse_args()
    return rehearse('build/rehearsal', o.count, o.seed, o.kills, o.lesson)


if __name__ == '__main__':
    become_apart()
    sys.exit(main())
