// One line of LETOR/SVMlight text: "label [qid:query] index:value ... [# comment]".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankwise {

// The allowed range of numbers and indices.
struct LetorRules {
    std::int64_t min_index;
    std::int64_t max_index;
    double max_value;
};

// Views into the text; the entries are written to arrays of the caller, with room for a quarter as many
// elements as the line has characters (no entry is shorter than " 1:2").
struct LetorLine {
    bool is_row;  // false for blank and comment-only lines
    double label;
    std::string_view query;  // empty if there is none
    std::string_view comment;
    std::int64_t n_entries;
    const char* newline;  // that ends the line
};

// Reads the line that starts at `begin`; `end` comes right after some newline. Returns an empty string, or
// what is wrong with the line.
std::string read_letor_line(const char* begin, const char* end, const LetorRules& rules,
                            std::int64_t* indices, double* values, LetorLine& line);

// The document label in a comment: the word after "docid =", otherwise the first word.
std::string_view docid_of(std::string_view comment);

}  // namespace rankwise
