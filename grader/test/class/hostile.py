# Writes submissions into the folder of its first argument that are hard to read, to name, or to run, all of them of lesson 1.
import os, sys, unicodedata, zipfile, zlib

E = '01-first-kernel.cu'
to, good = os.fsencode(sys.argv[1]), open('solutions/' + E, 'rb').read()


def file_of(student, data, name=E):
    student = student if isinstance(student, bytes) else student.encode()
    os.makedirs(to + b'/' + student, exist_ok=True)
    with open(to + b'/' + student + b'/' + name.encode(), 'wb') as file:
        file.write(data)


def body_of(student, body, before=''):
    file_of(student, f'#include "01-first-kernel.h"\n#include <stdio.h>\n#include <stdlib.h>\n{before}\n'
            f'void vector_add(float *, const float *, const float *, int)\n{{\n    {body}\n}}\n'.encode())


def zip_of(student, path, data=good):
    with zipfile.ZipFile(f'{sys.argv[1]}/{student}.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)


# Bytes that are no usual source.
file_of('zero bytes', b'')
file_of('NUL bytes', bytes(5000))
file_of('CRLF', good.replace(b'\n', b'\r\n'))
file_of('BOM', b'\xef\xbb\xbf' + good)
file_of('UTF-16', good.decode().encode('utf-16'))

# Names. What is only named is empty, so that it is refused by the compiler at once.
composed = unicodedata.normalize('NFC', 'Zoë Ångström')
apart = unicodedata.normalize('NFD', composed)
assert composed != apart
zip_of(apart, unicodedata.normalize('NFD', 'Übung/') + E)
for name in ('علي', 'דוד', 'さくら', '한글', '=cmd()', '-rf', '+1', '@x', 'a"b', "c'd", 'e,f', 'g\nh', '\u202eturned', '$(touch x)', '%n%s', 'a|b;c&d', '~', '*'):
    file_of(name, b'')
file_of(b'Latin-1 \xe9', b'')
file_of('.hidden', b'')
file_of('long ' + 'x' * 240, b'')

# What is said and printed, and what takes all there is.
file_of('messages', b'#include "01-first-kernel.h"\n' + b''.join(b'#error \x1b[31m\xff\x00' + b'x' * 190 + b'\n' for _ in range(4900)))
file_of('one message', b'#include "01-first-kernel.h"\n#error ' + bytes(range(14, 256)) * 4000 + b'\n')
body_of('prints much', 'for (int i = 0; i < 1 << 20; i++) putchar(i % 251);')
body_of('prints for ever', 'for (;;) puts("and again");')
body_of('kernel prints', 'flood<<<1, 256>>>(); cudaDeviceSynchronize();',
        '__global__ void flood() { for (int i = 0; i < 100; i++) printf("thread %d says %d\\n", threadIdx.x, i); }')
body_of('host memory', 'for (;;) { char *p = (char *)malloc(1 << 26); for (int i = 0; i < 1 << 26; i += 4096) p[i] = 1; }')
body_of('device memory', 'for (void *p; cudaMalloc(&p, 1ull << 30) == cudaSuccess;) cudaMemset(p, 1, 1 << 12);')

# Too many, too large.
os.makedirs(to + b'/ten thousand')
for n in range(10000):
    open(to + b'/ten thousand/%d' % n, 'wb').close()
file_of('sparse folder', b'')
os.truncate(to + b'/sparse folder/' + E.encode(), 10 << 30)

file_of('full', b'#error not done\n'.ljust(1 << 20))
file_of('over', b'#error not done\n'.ljust((1 << 20) + 1))
file_of('thousand', b'#error not done\n')
file_of('thousand and one', b'#error not done\n')
for n in range(1000):
    if n:
        file_of('thousand', b'', str(n))
    file_of('thousand and one', b'', str(n))


# RAR 4, with a file that is stored as it is (technote.txt of UnRAR).
def rar_of(student, path, data):
    def block(kind, flags, rest):
        head = bytes([kind]) + flags.to_bytes(2, 'little') + (7 + len(rest)).to_bytes(2, 'little') + rest
        return (zlib.crc32(head) & 0xffff).to_bytes(2, 'little') + head
    size, crc = len(data).to_bytes(4, 'little'), zlib.crc32(data).to_bytes(4, 'little')
    of_file = size + size + b'\3' + crc + bytes(4) + b'\x14\x30' + len(path).to_bytes(2, 'little') + (0o100644).to_bytes(4, 'little') + path
    with open(to + b'/' + student.encode() + b'.rar', 'wb') as file:
        file.write(b'Rar!\x1a\x07\0' + block(0x73, 0, bytes(6)) + block(0x74, 0x8000, of_file) + data + block(0x7b, 0x4000, b''))


rar_of('rar', E.encode(), good)
rar_of('rar up', b'../' + E.encode(), good)
sys.path.insert(0, 'grader/rehearsal')
from submissions import write_7z
write_7z(sys.argv[1] + '/seven.7z', E, good)
write_7z(sys.argv[1] + '/seven up.7z', '../' + E, good)
