# Writes archives into the folder of its first argument: good ones and hostile ones, all of them of lesson 1.
import io, random, sys, tarfile, zipfile

E = '01-first-kernel.cu'
to, good, todo = sys.argv[1], open('solutions/' + E, 'rb').read(), open('exercises/' + E, 'rb').read()
noise = random.Random(1).randbytes


def zip_of(name, files):
    with zipfile.ZipFile(f'{to}/{name}.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        for path, data in files:
            archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED) # which has no date


# Of (path, bytes) and of (path, a kind that is no file).
def tar_of(name, suffix, mode, members):
    with tarfile.open(f'{to}/{name}.{suffix}', mode) as archive:
        for path, what in members:
            info = tarfile.TarInfo(path)
            if what in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
                info.type = what
                info.linkname = E if what == tarfile.LNKTYPE else '/etc/passwd'
                archive.addfile(info)
            else:
                info.size = len(what)
                archive.addfile(info, io.BytesIO(what))


def file_of(name, data):
    with open(f'{to}/{name}', 'wb') as file:
        file.write(data)


zip_of('zip', [('exercises/' + E, good), ('notes.txt', b'notes'), ('__MACOSX/._' + E, b'of a Mac')])
tar_of('gz', 'tar.gz', 'w:gz', [(E, good)])
tar_of('xz', 'tar.xz', 'w:xz', [('a/b/' + E, good)])
tar_of('plain', 'tar', 'w', [(E, good)])
zip_of('Зоя', [('папка/' + E, good)])
zip_of('अदिति', [('ü/' + E, todo)])

zip_of('twice', [('exercises/' + E, good), ('solutions/' + E, good), ('05-transpose.cu', b'#error')])
zip_of('up', [('../' + E, good)])
zip_of('updeep', [('a/../../' + E, good)])
zip_of('absolute', [('/' + E, good)])
zip_of('drive', [('C:\\' + E, good)])
zip_of('backslash', [('..\\' + E, good)])
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
file_of('broken.zip', b'PK\3\4nothing')
file_of('empty.zip', b'')
file_of('cut.tar.gz', open(f'{to}/gz.tar.gz', 'rb').read()[:-200])
file_of('mtree.tar', b'#mtree\n./' + E.encode() + b' type=file contents=/etc/passwd\n')
with open(f'{to}/huge.zip', 'wb') as file:
    file.truncate(10 << 30)
