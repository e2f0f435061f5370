// Parses decimal text to the nearest double: directly where that is exact, with std::from_chars otherwise.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/compiler.hpp"

namespace rankwise {

inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

// The value of eight digits, each a byte from 0 to 9, the first in the lowest byte: adjacent digits are
// combined into pairs, pairs into fours, fours into eight.
inline std::uint64_t join_digits(std::uint64_t digits) {
    constexpr std::uint64_t mask = 0x000000FF000000FFu;
    digits = digits * 10 + (digits >> 8);
    return ((digits & mask) * 0x000F424000000064u + ((digits >> 16) & mask) * 0x0000271000000001u) >> 32;
}

// Appends digits to `number` until there are none, eight at a time while `limit` allows looking ahead. The
// character before `limit` is not a digit.
inline const char* read_digits(const char* at, const char* limit, std::uint64_t& number) {
    static constexpr std::uint64_t power_of_ten[] = {1,      10,      100,      1000,     10000,
                                                     100000, 1000000, 10000000, 100000000};
    while (limit - at >= 8) {
        std::uint64_t text;
        std::memcpy(&text, at, sizeof text);
        text ^= 0x3030303030303030u;
        // The high bit of each byte that is not a digit, and possibly of some after the first such byte.
        const std::uint64_t others = ((text + 0x7676767676767676u) | text) & 0x8080808080808080u;
        const int n = others == 0 ? 8 : count_trailing_zeros(others) / 8;
        if (n == 0) return at;
        number = number * power_of_ten[n] + join_digits(text << (64 - 8 * n));
        at += n;
        if (n < 8) return at;
    }
    while (is_digit(*at)) number = number * 10 + static_cast<std::uint64_t>(*at++ - '0');
    return at;
}

// Reads an optional sign, digits with an optional decimal point, and an optional exponent. Returns the first
// character after the number, or null if there is no number. Overflow gives infinity, underflow zero.
inline const char* read_number(const char* at, const char* limit, double& out) {
    static constexpr double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool negative = *at == '-';
    if (negative || *at == '+') ++at;
    const char* const start = at;
    std::uint64_t digits = 0;
    while (is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
    std::int64_t n_digits = at - start;
    std::int64_t exponent = 0;
    if (*at == '.') {
        const char* const fraction = ++at;
        at = read_digits(at, limit, digits);
        exponent = fraction - at;
        n_digits += at - fraction;
    }
    if (n_digits == 0) return nullptr;
    if (*at == 'e' || *at == 'E') {
        ++at;
        const bool shrinks = *at == '-';
        if (shrinks || *at == '+') ++at;
        if (!is_digit(*at)) return nullptr;
        std::int64_t written = 0;
        for (; is_digit(*at); ++at) {
            if (written < 1000000) written = written * 10 + (*at - '0');
        }
        exponent += shrinks ? -written : written;
    }
    double magnitude;
    if (n_digits <= 19 && digits <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
        // Both factors are exact doubles, so one operation rounds once (Clinger 1990).
        magnitude = static_cast<double>(digits);
        magnitude = exponent < 0 ? magnitude / power_of_ten[-exponent] : magnitude * power_of_ten[exponent];
    } else if (std::from_chars(start, at, magnitude).ec == std::errc::result_out_of_range) {
        // With the point before the first significant digit, d = 0.ddd * 10^(exponent + significant digits).
        for (const char* zero = start; *zero == '0' || *zero == '.'; ++zero) n_digits -= *zero == '0';
        magnitude = exponent + n_digits > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    }
    out = negative ? -magnitude : magnitude;
    return at;
}

}  // namespace rankwise
