// Who wrote a word of device memory last: what the device keeps (memory/writer.h), and what it
// tells the owner and the report (wire/wire.h).
#pragma once

enum writer {
    WRITER_OWNER,  // nobody since the owner allocated or filled it; or never
    WRITER_KERNEL, // a store or an atomic of a kernel
    WRITER_FILL,   // cudaMemset of a good part of an array
    WRITER_HOST,   // a copy of what the host had, or a fill of a small part
    WRITER_MOVED,  // a copy within the devices' memory of what the owner had filled
    WRITERS
};
