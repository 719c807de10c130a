// GRDB imports all of Foundation, and with it the static Foundation brings ICU's tables of languages, calendars and
// collations: 34 MB of the command, which nothing in it reads (scripts/lint-layers.awk lets no target of it import more
// than FoundationEssentials). A package without items, as ICU's own library of stub data is one, takes their place: the
// linker doesn't look for what is defined here. ICU then finds no table, and says so by U_MISSING_RESOURCE_ERROR.
//
// The symbol has ICU's major version in its name, which a toolchain chooses: each of these costs nothing where it isn't
// asked for. It's hidden, so that a Foundation that is linked dynamically keeps its own.
#include "CTransferProgram.h"
#include <stdint.h>

/// ICU's header of a data package (unicode/udata.h, struct UDataInfo, behind its length and two magic bytes), and a table
/// of contents.
struct package {
    uint16_t header_size;
    uint8_t magic[2];
    uint16_t info_size;
    uint16_t reserved_word;
    uint8_t is_big_endian;
    uint8_t charset_family;
    uint8_t size_of_uchar;
    uint8_t reserved_byte;
    uint8_t data_format[4];
    uint8_t format_version[4];
    uint8_t data_version[4];
    uint8_t padding[8];
    uint32_t count;
    uint32_t reserved;
};

_Static_assert(sizeof(struct package) == 40, "the table of contents begins behind 32 bytes of header");

#define EMPTY_PACKAGE(version) \
    __attribute__((visibility("hidden"), aligned(16))) const struct package icudt##version##_dat = { \
        .header_size = 32, .magic = {0xda, 0x27}, .info_size = 20, \
        .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .size_of_uchar = 2, \
        .data_format = {'C', 'm', 'n', 'D'}, .format_version = {1, 0, 0, 0}, .count = 0};

EMPTY_PACKAGE(72)
EMPTY_PACKAGE(73)
EMPTY_PACKAGE(74)
EMPTY_PACKAGE(75)
EMPTY_PACKAGE(76)
EMPTY_PACKAGE(77)
EMPTY_PACKAGE(78)
EMPTY_PACKAGE(79)
EMPTY_PACKAGE(80)
