// Decimal text to the nearest double: the digits read by hand where that is exact, std::from_chars elsewhere.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

namespace rankwise {

inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

// True if the eight characters at `at` are all digits; their value is added behind `number`'s digits.
inline bool append_eight_digits(const char* at, std::uint64_t& number) {
    std::uint64_t text;
    std::memcpy(&text, at, sizeof text);
    const std::uint64_t carries = (text + 0x4646464646464646u) | (text - 0x3030303030303030u);
    if (carries & 0x8080808080808080u) return false;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    text = __builtin_bswap64(text);
#endif
    // Neighbouring digits are joined to pairs, pairs to fours, fours to eight.
    text -= 0x3030303030303030u;
    text = (text * 10) + (text >> 8);
    const std::uint64_t mask = 0x000000FF000000FFu;
    const std::uint64_t low = (text & mask) * 0x000F424000000064u;           // 100 + (1000000 << 32)
    const std::uint64_t high = ((text >> 16) & mask) * 0x0000271000000001u;  // 1 + (10000 << 32)
    number = number * 100000000u + ((low + high) >> 32);
    return true;
}

// Reads digits until there are none; `limit` bounds look-ahead, and text[limit - 1] is no digit.
inline const char* read_digits(const char* at, const char* limit, std::uint64_t& number) {
    while (limit - at >= 8 && append_eight_digits(at, number)) at += 8;
    while (is_digit(*at)) number = number * 10 + static_cast<std::uint64_t>(*at++ - '0');
    return at;
}

// Reads an optional sign, digits with an optional point, and an optional exponent. Returns the first
// character behind the number, or null if there is no number. Too large a number gives infinity, too small a
// one zero.
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
        // With its point before the first digit that counts, d = 0.ddd * 10^(exponent + digits that count).
        for (const char* zero = start; *zero == '0' || *zero == '.'; ++zero) n_digits -= *zero == '0';
        magnitude = exponent + n_digits > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    }
    out = negative ? -magnitude : magnitude;
    return at;
}

}  // namespace rankwise
