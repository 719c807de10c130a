#include "CTransferProgram.h"
#include <stddef.h>

static int count;
static char **values;

// glibc calls constructors as it calls main: with the arguments.
__attribute__((constructor)) static void note(int argc, char **argv) {
    count = argc;
    values = argv;
}

int transfer_argument_count(void) { return count; }

const char *transfer_argument(int index) { return index >= 0 && index < count ? values[index] : NULL; }
