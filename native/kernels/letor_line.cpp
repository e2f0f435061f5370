#include "kernels/letor_line.hpp"

#include <cmath>
#include <limits>

#include "kernels/number.hpp"

namespace rankwise {

namespace {

constexpr std::int64_t max_name_length = 1000;

// The newline is not one of them, so it ends every token and every run of spaces.
bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool ends_token(char c) {
    return c == '\n' || c == '#' || is_space(c);
}

const char* skip_spaces(const char* at) {
    while (is_space(*at)) ++at;
    return at;
}

const char* find_newline(const char* at, const char* end) {
    return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
}

const char* token_end(const char* at) {
    while (!ends_token(*at)) ++at;
    return at;
}

// A token as shown in an error message: short, and without terminal control characters.
std::string shown(const char* begin, const char* end) {
    constexpr std::ptrdiff_t longest = 40;
    static constexpr char hex[] = "0123456789abcdef";
    std::string text = "'";
    const char* const stop = end - begin > longest ? begin + longest : end;
    for (const char* at = begin; at < stop; ++at) {
        const auto byte = static_cast<unsigned char>(*at);
        if (byte >= 0x20 && byte < 0x7f) {
            text += *at;
        } else {
            text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        }
    }
    text += stop < end ? "...'" : "'";
    return text;
}

std::string number_error(const std::string& what, const char* at, double limit) {
    std::string message = what + " is " + shown(at, token_end(at)) + "; expected a finite number";
    if (limit < std::numeric_limits<double>::max()) message += " that fits in float32";
    return message + ".";
}

// Explains why no entry could be read at `at`.
std::string entry_error(const char* at) {
    const char* const end = token_end(at);
    const std::string token = shown(at, end);
    if (*at == '-' && is_digit(at[1])) return "feature index " + token + " is negative.";
    if (end - at >= 4 && std::string_view(at, 4) == "qid:") {
        return "repeated or misplaced " + token + "; qid must appear once, right after the label.";
    }
    return "expected index:value, got " + token + ".";
}

std::string index_error(std::int64_t index, std::int64_t previous, const LetorRules& rules) {
    const std::string name = std::to_string(index);
    if (index < rules.min_index) {
        return "feature index " + name + " is too small; indices start at " +
               std::to_string(rules.min_index) + ".";
    }
    if (index > rules.max_index) {
        return "feature index " + name + " is too large; the largest allowed is " +
               std::to_string(rules.max_index) + ".";
    }
    if (index == previous) return "feature index " + name + " appears twice.";
    return "feature index " + name + " comes after " + std::to_string(previous) +
           "; indices must ascend within a line.";
}

// Reads digits into `index`; null if there are none or they exceed 2^63 - 1.
const char* read_index(const char* at, const char* limit, std::int64_t& index) {
    const char* const start = at;
    std::uint64_t number = 0;
    at = read_digits(at, limit, number);
    if (at == start) return nullptr;
    if (at - start > 18) {
        const auto parsed = std::from_chars(start, at, index);
        return parsed.ec == std::errc() ? at : nullptr;
    }
    index = static_cast<std::int64_t>(number);
    return at;
}

}  // namespace

std::string_view docid_of(std::string_view comment) {
    const auto word_at = [&](std::size_t begin) {
        begin = comment.find_first_not_of(" \t\r\v\f", begin);
        if (begin == std::string_view::npos) return std::string_view();
        const std::size_t end = comment.find_first_of(" \t\r\v\f", begin);
        return comment.substr(begin, end == std::string_view::npos ? end : end - begin);
    };
    const std::string_view first = word_at(0);
    if (first.substr(0, 5) != "docid") return first;
    const std::size_t equals = comment.find_first_not_of(" \t", 5);
    if (equals == std::string_view::npos || comment[equals] != '=') return first;
    return word_at(equals + 1);
}

std::string read_letor_line(const char* begin, const char* end, const LetorRules& rules,
                            std::int64_t* indices, double* values, LetorLine& line) {
    line = LetorLine{};
    const char* at = skip_spaces(begin);
    line.is_row = *at != '\n' && *at != '#';
    if (!line.is_row) {
        line.newline = find_newline(at, end);
        return {};
    }

    const char* after = read_number(at, end, line.label);
    if (after == nullptr || !ends_token(*after) || !std::isfinite(line.label)) {
        return number_error("the label", at, std::numeric_limits<double>::max());
    }
    at = skip_spaces(after);

    if (*at == 'q' && end - at > 4 && std::string_view(at, 4) == "qid:") {
        const char* const name_end = token_end(at + 4);
        if (name_end == at + 4) return "qid: is not followed by a query label.";
        if (name_end - at - 4 > max_name_length)
            return "qid is longer than " + std::to_string(max_name_length) + " bytes.";
        line.query = std::string_view(at + 4, static_cast<std::size_t>(name_end - at - 4));
        at = skip_spaces(name_end);
    }

    std::int64_t previous = -1;
    std::int64_t n = 0;
    for (; *at != '\n' && *at != '#'; at = skip_spaces(after), ++n) {
        std::int64_t index;
        const char* const colon = read_index(at, end, index);
        if (colon == nullptr || *colon != ':') {
            const bool overflow = colon == nullptr && is_digit(*at);
            return overflow ? "feature index " + shown(at, token_end(at)) + " does not fit in 63 bits."
                            : entry_error(at);
        }
        if (index <= previous || index < rules.min_index || index > rules.max_index) {
            return index_error(index, previous, rules);
        }
        double value;
        after = read_number(colon + 1, end, value);
        if (after == nullptr || !ends_token(*after) || !(std::fabs(value) <= rules.max_value)) {
            return number_error("the value of feature " + std::to_string(index), colon + 1, rules.max_value);
        }
        indices[n] = previous = index;
        values[n] = value;
    }
    line.n_entries = n;
    line.newline = find_newline(at, end);
    if (*at == '#') {
        const char* const start = skip_spaces(at + 1);
        const char* stop = line.newline;
        while (stop > start && is_space(stop[-1])) --stop;
        line.comment = std::string_view(start, static_cast<std::size_t>(stop - start));
    }
    return {};
}

}  // namespace rankwise
