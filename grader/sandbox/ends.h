// How build/grader/sandbox tells of an end that is not the command's own: exit statuses which
// nothing else has.
#pragma once

enum {
    SANDBOX_OTHER = 122,          // the command's own status is one of the three below
    SANDBOX_MACHINE_MEMORY = 123, // something was killed: the machine's memory is used up
    SANDBOX_LIMIT_MEMORY = 124,   // something was killed: --memory was not enough
    SANDBOX_FAILED = 125,         // the sandbox cannot be made, or the command cannot be started
};
