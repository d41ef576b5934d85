# Writes archives into the folder of its first argument: good ones and hostile ones, all of them of lesson 1.
import contextlib, gzip, io, lzma, random, sys, tarfile, zipfile, zlib

sys.path.insert(0, 'grader/rehearsal')
from submissions import write_archive

E = '01-first-kernel.cu'
to, good, todo = sys.argv[1], open('solutions/' + E, 'rb').read(), open('exercises/' + E, 'rb').read()
noise = random.Random(1).randbytes


def zip_of(name, files):
    with zipfile.ZipFile(f'{to}/{name}.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        for path, data in files:
            archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED) # which has no date


# Of (path, bytes) and of (path, a kind that is no file).
def tar_of(name, suffix, mode, members):
    with contextlib.ExitStack() as open_files:
        out = open_files.enter_context(open(f'{to}/{name}.{suffix}', 'wb'))
        if mode == 'w:gz': # which would have a date
            out, mode = open_files.enter_context(gzip.GzipFile('', 'wb', fileobj=out, mtime=0)), 'w'
        archive = open_files.enter_context(tarfile.open(fileobj=out, mode=mode))
        for path, what in members:
            info = tarfile.TarInfo(path)
            if what in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
                info.type = what
                info.linkname = E if what == tarfile.LNKTYPE else '/etc/passwd'
                archive.addfile(info)
            else:
                info.size = len(what)
                archive.addfile(info, io.BytesIO(what))


def file_of(name, data):
    with open(f'{to}/{name}', 'wb') as file:
        file.write(data)


zip_of('zip', [('exercises/' + E, good), ('notes.txt', b'notes'), ('old/01-first-kernel', todo), ('old/' + E + '.orig', todo), ('__MACOSX/._' + E, b'of a Mac')])
tar_of('gz', 'tar.gz', 'w:gz', [(E, good)])
tar_of('xz', 'tar.xz', 'w:xz', [('a/b/' + E, good)])
tar_of('plain', 'tar', 'w', [(E, good)])
zip_of('Зоя', [('папка/' + E, good)])
zip_of('अदिति', [('ü/' + E, todo)])

# All kinds. What is only named is refused by the compiler at once.
no = b'#error not done\n'
for suffix, mode in (('tar.bz2', 'w:bz2'), ('tbz2', 'w:bz2'), ('txz', 'w:xz'), ('tgz', 'w:gz'), ('TAR', 'w')):
    tar_of(suffix.replace('.', '-'), suffix, mode, [(E, no)])
for suffix, kind in (('tar.zst', 'add_filter_zstd'), ('tar.lz4', 'add_filter_lz4')):
    write_archive(f'{to}/{suffix[:3]}-{suffix[4:]}.{suffix}', E, no, 'set_format_pax_restricted', kind)

# As much as there may be, and one more.
full = no + b' ' * ((1 << 20) - len(no))
tar_of('full', 'tar', 'w', [(E, full)])
zip_of('dense', [(E, full[:500000])])
zip_of('thousand', [(f'f{n}', b'') for n in range(999)] + [(E, no)])
zip_of('thousand and one', [(f'f{n}', b'') for n in range(1000)] + [(E, no)])

zip_of('twice', [('exercises/' + E, good), ('solutions/' + E, good), ('05-transpose.cu', b'#error')])
zip_of('up', [('../' + E, good)])
zip_of('updeep', [('a/../../' + E, good)])
zip_of('absolute', [('/' + E, good)])
zip_of('drive', [('C:\\' + E, good)])
zip_of('backslash', [('..\\' + E, good)])
tar_of('slashes', 'tar', 'w', [('a\\..\\' + E, good)])
tar_of('dots', 'tar', 'w', [(E, good), ('a/..', tarfile.DIRTYPE)])
tar_of('folder of its name', 'tar', 'w', [('05-transpose.cu', no), (E, tarfile.DIRTYPE)])
tar_of('symlink', 'tar.gz', 'w:gz', [(E, tarfile.SYMTYPE)])
tar_of('hardlink', 'tar.gz', 'w:gz', [('a.cu', good), (E, tarfile.LNKTYPE)])
tar_of('hardother', 'tar.gz', 'w:gz', [(E, good), ('x', tarfile.LNKTYPE)])
tar_of('device', 'tar.gz', 'w:gz', [(E, good), ('null', tarfile.CHRTYPE)])
tar_of('fifo', 'tar.gz', 'w:gz', [('p', tarfile.FIFOTYPE)])
zip_of('bomb', [(E, good), ('big', bytes(15 << 20))])
zip_of('bombs', [(f'{n}', bytes(1 << 20)) for n in range(40)])
zip_of('heavy', [(f'{n}', noise(1 << 12) * 128) for n in range(40)])
zip_of('many', [(f'f{n}', b'') for n in range(10000)])
zip_of('nested', [('x.zip', b'PK'), (E, good)])
zip_of('none', [('transpose.cu', good)])
zip_of('large', [(E, noise((1 << 20) + 1))])
# Its header has the decompressor want 4 GiB.
packed = bytearray(lzma.compress(open(f'{to}/plain.tar', 'rb').read()))
end = 12 + (packed[12] + 1) * 4 - 4
packed[16] = 40
packed[end:end + 4] = zlib.crc32(packed[12:end]).to_bytes(4, 'little')
file_of('greedy.tar.xz', packed)
file_of('broken.zip', b'PK\3\4nothing')
file_of('empty.zip', b'')
file_of('cut.tar.gz', open(f'{to}/gz.tar.gz', 'rb').read()[:-200])
file_of('mtree.tar', b'#mtree\n./' + E.encode() + b' type=file contents=/etc/passwd\n')
with open(f'{to}/huge.zip', 'wb') as file:
    file.truncate(10 << 30)
