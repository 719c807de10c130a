// CRC-32C (Castagnoli; RFC 3720, appendix B.4) by the processor's own instruction, or by tables where it has none.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#define TRANSFER_CRC32C_POLYNOMIAL 0x82F63B78u

// Of 8 bytes more, by hardware. The state is the register's, without the inversions of the beginning and the end.
#if defined(__x86_64__)
static inline uint64_t transfer_crc32c_step(uint64_t crc, uint64_t word) {
    // A register: where memory is allowed, clang takes it always, and stores each word there first.
    __asm__("crc32q %1, %0" : "+r"(crc) : "r"(word));
    return crc;
}

static inline int transfer_crc32c_has_hardware(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) != 0;
}
#elif defined(__aarch64__)
static inline uint64_t transfer_crc32c_step(uint64_t crc, uint64_t word) {
    uint32_t low = (uint32_t)crc;
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(low) : "r"(word));
    return low;
}

// HWCAP_CRC32
static inline int transfer_crc32c_has_hardware(void) { return (getauxval(AT_HWCAP) & (1u << 7)) != 0; }
#else
static inline uint64_t transfer_crc32c_step(uint64_t crc, uint64_t word) { return crc ^ word; }
static inline int transfer_crc32c_has_hardware(void) { return 0; }
#endif

// What is made once: eight tables for 8 bytes at a time, and the effects of a long and of a short lane of zeros.
// libcurl hands bodies over in pieces of 16 KiB: three long lanes take nearly all of one, short ones what is left.
#define TRANSFER_CRC32C_LANE 5376
#define TRANSFER_CRC32C_SHORT_LANE 256

struct transfer_crc32c_tables {
    uint32_t bytes[8][256];
    uint32_t zeros[4][256];
    uint32_t short_zeros[4][256];
    int hardware;
};

static inline uint32_t transfer_crc32c_times(const uint32_t *matrix, uint32_t vector) {
    uint32_t sum = 0;
    for (int bit = 0; vector != 0; bit++, vector >>= 1)
        if (vector & 1) sum ^= matrix[bit];
    return sum;
}

// The effect of `length` zero bytes on the register, as a matrix: what becomes of each of its bits.
static inline void transfer_crc32c_matrix(uint32_t effect[32], uint64_t length) {
    uint32_t matrix[32], square[32];
    matrix[0] = TRANSFER_CRC32C_POLYNOMIAL;
    for (int bit = 1; bit < 32; bit++) matrix[bit] = 1u << (bit - 1);
    for (int bit = 0; bit < 32; bit++) effect[bit] = 1u << bit;
    // One bit so far; each square doubles that.
    for (int doubling = 0; doubling < 3; doubling++) {
        for (int bit = 0; bit < 32; bit++) square[bit] = transfer_crc32c_times(matrix, matrix[bit]);
        memcpy(matrix, square, sizeof matrix);
    }
    while (length != 0) {
        if (length & 1)
            for (int bit = 0; bit < 32; bit++) effect[bit] = transfer_crc32c_times(matrix, effect[bit]);
        length >>= 1;
        if (length == 0) break;
        for (int bit = 0; bit < 32; bit++) square[bit] = transfer_crc32c_times(matrix, matrix[bit]);
        memcpy(matrix, square, sizeof matrix);
    }
}

// The register after `length` zero bytes.
static inline uint32_t transfer_crc32c_shift(uint32_t crc, uint64_t length) {
    uint32_t effect[32];
    transfer_crc32c_matrix(effect, length);
    return transfer_crc32c_times(effect, crc);
}

static inline void transfer_crc32c_make_zeros(uint32_t zeros[4][256], uint64_t length) {
    uint32_t effect[32];
    transfer_crc32c_matrix(effect, length);
    for (int part = 0; part < 4; part++)
        for (uint32_t byte = 0; byte < 256; byte++)
            zeros[part][byte] = transfer_crc32c_times(effect, byte << (8 * part));
}

static inline void transfer_crc32c_make(struct transfer_crc32c_tables *tables, int allows_hardware) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (TRANSFER_CRC32C_POLYNOMIAL & (0u - (crc & 1)));
        tables->bytes[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int table = 1; table < 8; table++) {
            uint32_t before = tables->bytes[table - 1][byte];
            tables->bytes[table][byte] = (before >> 8) ^ tables->bytes[0][before & 0xFF];
        }
    transfer_crc32c_make_zeros(tables->zeros, TRANSFER_CRC32C_LANE);
    transfer_crc32c_make_zeros(tables->short_zeros, TRANSFER_CRC32C_SHORT_LANE);
    tables->hardware = allows_hardware && transfer_crc32c_has_hardware();
}

static inline uint64_t transfer_crc32c_word(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

static inline uint32_t transfer_crc32c_zeros(const uint32_t zeros[4][256], uint32_t crc) {
    return zeros[0][crc & 0xFF] ^ zeros[1][(crc >> 8) & 0xFF] ^ zeros[2][(crc >> 16) & 0xFF] ^ zeros[3][crc >> 24];
}

// Three lanes of that length at a time: the instruction takes three cycles, and one may begin in each.
static inline uint64_t transfer_crc32c_lanes(
    uint64_t crc, const uint32_t zeros[4][256], size_t lane, const unsigned char **bytes, size_t *count) {
    for (; *count >= 3 * lane; *bytes += 3 * lane, *count -= 3 * lane) {
        uint64_t second = 0, third = 0;
        for (const unsigned char *word = *bytes; word < *bytes + lane; word += 8) {
            crc = transfer_crc32c_step(crc, transfer_crc32c_word(word));
            second = transfer_crc32c_step(second, transfer_crc32c_word(word + lane));
            third = transfer_crc32c_step(third, transfer_crc32c_word(word + 2 * lane));
        }
        crc = transfer_crc32c_zeros(zeros, (uint32_t)crc) ^ (uint32_t)second;
        crc = transfer_crc32c_zeros(zeros, (uint32_t)crc) ^ (uint32_t)third;
    }
    return crc;
}

// Goes on with the sum of what was before; 0 at the beginning.
static inline uint32_t transfer_crc32c(
    const struct transfer_crc32c_tables *tables, uint32_t sum, const void *start, size_t count) {
    const unsigned char *bytes = (const unsigned char *)start;
    uint64_t crc = ~sum;
    if (tables->hardware) {
        crc = transfer_crc32c_lanes(crc, tables->zeros, TRANSFER_CRC32C_LANE, &bytes, &count);
        crc = transfer_crc32c_lanes(crc, tables->short_zeros, TRANSFER_CRC32C_SHORT_LANE, &bytes, &count);
        for (; count >= 8; bytes += 8, count -= 8) crc = transfer_crc32c_step(crc, transfer_crc32c_word(bytes));
    } else {
        for (; count >= 8; bytes += 8, count -= 8) {
            uint32_t low = (uint32_t)crc ^ (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24);
            crc = tables->bytes[7][low & 0xFF] ^ tables->bytes[6][(low >> 8) & 0xFF]
                ^ tables->bytes[5][(low >> 16) & 0xFF] ^ tables->bytes[4][low >> 24] ^ tables->bytes[3][bytes[4]]
                ^ tables->bytes[2][bytes[5]] ^ tables->bytes[1][bytes[6]] ^ tables->bytes[0][bytes[7]];
        }
    }
    for (; count > 0; bytes++, count--) crc = ((uint32_t)crc >> 8) ^ tables->bytes[0][((uint32_t)crc ^ *bytes) & 0xFF];
    return ~(uint32_t)crc;
}
