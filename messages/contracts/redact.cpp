#include "messages/contracts/redact.hpp"

#include "messages/contracts/char_class.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

// Every rule is one pass from left to right that never looks at a byte more
// than a few times: it walks back from a mark (a colon, "://") only as far as
// the mark before, and after a failed attempt it goes on behind the run that
// failed. A rule that finds nothing copies nothing: most texts hold no secret.

namespace bureau::contracts {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view redacted = "[redacted]";

/// Collects a text with parts of it replaced, from left to right.
class rewriter {
public:
  explicit rewriter(std::string_view text) : text_(text) {}

  void replace(size_t from, size_t to, std::string_view first,
               std::string_view second = {}) {
    if (!changed_)
      out_.reserve(text_.size() + text_.size() / 4);
    out_ += text_.substr(copied_, from - copied_);
    out_ += first;
    out_ += second;
    copied_ = to;
    changed_ = true;
  }

  /// End of what was replaced last.
  size_t done() const { return copied_; }

  /// The text, unless nothing was replaced.
  std::optional<std::string> finish() {
    if (!changed_)
      return std::nullopt;
    out_ += text_.substr(copied_);
    return std::move(out_);
  }

private:
  std::string_view text_;
  std::string out_;
  size_t copied_ = 0;
  bool changed_ = false;
};

/// Which bytes a text has.
class characters {
public:
  explicit characters(std::string_view text) {
    for (auto c : text)
      seen_[static_cast<unsigned char>(c)] = true;
  }

  bool any(std::string_view set) const {
    return std::any_of(set.begin(), set.end(),
                       [this](char c) { return has(c); });
  }

  bool all(std::string_view set) const {
    return std::all_of(set.begin(), set.end(),
                       [this](char c) { return has(c); });
  }

private:
  bool has(char c) const { return seen_[static_cast<unsigned char>(c)]; }

  std::array<bool, 256> seen_{};
};

/// First of some ASCII characters at `pos` or behind it.
template <char... Set>
size_t find_any(std::string_view text, size_t pos) {
  while (pos < text.size() && ((text[pos] != Set) && ...))
    ++pos;
  return pos < text.size() ? pos : npos;
}

bool is_name_char(char c) {
  return is_word(c) || c == '-';
}

template <class Predicate>
size_t run_end(std::string_view text, size_t pos, Predicate predicate) {
  while (pos < text.size() && predicate(text[pos]))
    ++pos;
  return pos;
}

size_t name_end(std::string_view text, size_t pos) {
  return run_end(text, pos, is_name_char);
}

/// End of the quoted run that begins at `pos`; `pos` when none does.
size_t quoted_end(std::string_view text, size_t pos) {
  if (pos >= text.size() || (text[pos] != '"' && text[pos] != '\''))
    return pos;
  auto close = text.find(text[pos], pos + 1);
  return close == npos ? pos : close + 1;
}

size_t bare_end(std::string_view text, size_t pos) {
  while (pos < text.size() && text[pos] != ',' && text[pos] != ';'
         && space_at(text, pos) == 0)
    ++pos;
  return pos;
}

/// End of the value at `pos`: a quoted run, or everything up to white space, a
/// comma or a semicolon; `pos` when none is there.
size_t value_end(std::string_view text, size_t pos) {
  auto end = quoted_end(text, pos);
  return end > pos ? end : bare_end(text, pos);
}

/// Position after white space or one `=`; `pos` when neither is there.
size_t after_separator(std::string_view text, size_t pos) {
  if (pos < text.size() && text[pos] == '=')
    return pos + 1;
  return skip_spaces(text, pos);
}

// -- names of secrets ---------------------------------------------------------

/// A telling name: the first part, and behind `-`, `_` or nothing the second.
struct secret_name {
  std::string_view first;
  std::string_view second;
};

constexpr secret_name secret_names[] = {
  {"", "authorization"}, {"", "cookie"},       {"api", "key"},
  {"access", "token"},   {"refresh", "token"}, {"auth", "token"},
  {"security", "token"}, {"", "password"},     {"", "passwd"},
  {"", "secret"},        {"private", "key"},   {"", "credential"},
  {"session", "id"},     {"session", "token"}, {"", "token"},
};

constexpr secret_name secret_parameters[] = {
  {"api", "key"},          {"access", "token"},  {"refresh", "token"},
  {"auth", "token"},       {"client", "secret"}, {"", "password"},
  {"", "passwd"},          {"", "secret"},       {"", "signature"},
  {"", "x-amz-signature"}, {"", "ticket"},       {"", "token"},
};

/// Where the telling name begins that `text` ends with; npos without one.
size_t suffix_start(std::string_view text, const secret_name& name) {
  if (!ends_ignoring_case(text, name.second))
    return npos;
  text.remove_suffix(name.second.size());
  if (name.first.empty())
    return text.size();
  if (!text.empty() && (text.back() == '-' || text.back() == '_'))
    text.remove_suffix(1);
  return ends_ignoring_case(text, name.first) ? text.size() - name.first.size()
                                              : npos;
}

/// Whether `text` ends with a telling name whose start fits.
template <class Fits>
bool ends_with_secret_name(std::string_view text, Fits fits) {
  // Most names are too short, or end in a letter that none of them ends in.
  constexpr std::string_view last_letters = "delnty";
  if (text.size() < 5 || last_letters.find(to_lower(text.back())) == npos)
    return false;
  return std::any_of(std::begin(secret_names), std::end(secret_names),
                     [&](const secret_name& name) {
                       auto start = suffix_start(text, name);
                       return start != npos && fits(start);
                     });
}

// -- the rules ----------------------------------------------------------------

bool is_scheme_char(char c) {
  return is_alnum(c) || c == '+' || c == '.' || c == '-';
}

/// Whether a scheme ends before `colon`.
bool has_scheme(std::string_view text, size_t colon, size_t floor) {
  for (auto at = colon; at > floor && is_scheme_char(text[at - 1]); --at)
    if (is_letter(text[at - 1]) && is_word_boundary(text, at - 1))
      return true;
  return false;
}

/// scheme://user:password@host → scheme://host, whatever `@` a password has.
std::optional<std::string> without_userinfo(std::string_view text) {
  constexpr std::string_view mark = "://";
  rewriter result{text};
  size_t floor = 0;
  for (auto at = text.find(mark); at != npos; at = text.find(mark, floor)) {
    auto begin = at + mark.size();
    auto last = npos;
    auto end = begin;
    for (; end < text.size() && text[end] != '/' && space_at(text, end) == 0;
         ++end)
      if (text[end] == '@')
        last = end;
    if (last != npos && has_scheme(text, at, floor))
      result.replace(begin, last + 1, {});
    floor = begin;
  }
  return result.finish();
}

/// ?token=x and &token=x, up to `&`, `#` or white space.
std::optional<std::string> without_query_secrets(std::string_view text) {
  rewriter result{text};
  size_t from = 0;
  for (auto at = find_any<'?', '&'>(text, 0); at != npos;
       at = find_any<'?', '&'>(text, from)) {
    from = at + 1;
    auto equals = name_end(text, from);
    if (equals >= text.size() || text[equals] != '=')
      continue;
    auto name = text.substr(from, equals - from);
    auto telling =
      std::any_of(std::begin(secret_parameters), std::end(secret_parameters),
                  [name](const secret_name& secret) {
                    return suffix_start(name, secret) == 0;
                  });
    auto begin = equals + 1;
    auto end = begin;
    while (telling && end < text.size() && text[end] != '&' && text[end] != '#'
           && space_at(text, end) == 0)
      ++end;
    if (end > begin) {
      result.replace(begin, end, redacted);
      from = end;
    }
  }
  return result.finish();
}

bool begins_argument(std::string_view text, size_t pos) {
  return pos == 0 || space_before(text, pos) > 0;
}

/// Whether a flag without its dashes names a secret, alone or behind a prefix.
bool is_secret_flag(std::string_view name) {
  return ends_with_secret_name(name, [name](size_t start) {
    return start == 0
           || (start > 1 && is_letter(name.front())
               && (name[start - 1] == '-' || name[start - 1] == '_'));
  });
}

/// --password x and --my-token=x.
std::optional<std::string> without_flag_secrets(std::string_view text) {
  rewriter result{text};
  size_t from = 0;
  for (auto at = text.find('-'); at != npos; at = text.find('-', from)) {
    auto end = name_end(text, at);
    from = end;
    if (!begins_argument(text, at))
      continue;
    auto name = at + 1 < end && text[at + 1] == '-' ? at + 2 : at + 1;
    if (!is_secret_flag(text.substr(name, end - name)))
      continue;
    auto value = after_separator(text, end);
    auto value_after = value_end(text, value);
    if (value == end || value_after == value)
      continue;
    result.replace(end, value_after, " ", redacted);
    from = value_after;
  }
  return result.finish();
}

/// End of a user and password at `pos`, quoted or not; `pos` without a colon.
size_t login_end(std::string_view text, size_t pos) {
  auto has_colon = [&](size_t end) {
    return text.substr(pos, end - pos).find(':') != npos;
  };
  auto quoted = quoted_end(text, pos);
  if (quoted > pos && has_colon(quoted))
    return quoted;
  auto bare = pos;
  while (bare < text.size() && space_at(text, bare) == 0)
    ++bare;
  return has_colon(bare) ? bare : pos;
}

/// -u name:password, --user, --username.
std::optional<std::string> without_login_flags(std::string_view text) {
  constexpr std::string_view flags[] = {"-u", "--user", "--username"};
  rewriter result{text};
  size_t from = 0;
  for (auto at = text.find('-'); at != npos; at = text.find('-', from)) {
    auto end = name_end(text, at);
    from = end;
    if (!begins_argument(text, at)
        || std::none_of(std::begin(flags), std::end(flags),
                        [name = text.substr(at, end - at)](auto flag) {
                          return same_ignoring_case(name, flag);
                        }))
      continue;
    auto value = after_separator(text, end);
    auto value_after = login_end(text, value);
    if (value == end || value_after == value)
      continue;
    result.replace(end, value_after, " ", redacted);
    from = value_after;
  }
  return result.finish();
}

bool is_mysql_program(std::string_view word) {
  // mariadb-dump and its like begin with the word mariadb.
  constexpr std::string_view programs[] = {
    "mysql",       "mysqladmin", "mysqldump", "mysqlshow",
    "mysqlimport", "mysqlslap",  "mariadb"};
  return std::any_of(
    std::begin(programs), std::end(programs),
    [word](auto program) { return same_ignoring_case(word, program); });
}

/// Whether a word could be a MySQL program.
bool may_hold_mysql(std::string_view text) {
  for (auto at = find_any<'m', 'M'>(text, 0); at != npos;
       at = find_any<'m', 'M'>(text, at + 1))
    if (begins_ignoring_case(text.substr(at), "mysql")
        || begins_ignoring_case(text.substr(at), "mariadb"))
      return true;
  return false;
}

/// -p of a MySQL program, its password apart or glued to it. Other programs
/// mean other things by -p.
std::optional<std::string> without_mysql_passwords(std::string_view text,
                                                   bool glued) {
  if (!may_hold_mysql(text))
    return std::nullopt;
  rewriter result{text};
  auto armed = false;
  for (size_t at = 0; at < text.size();) {
    if (is_word(text[at])) {
      auto end = run_end(text, at, is_word);
      armed = armed || is_mysql_program(text.substr(at, end - at));
      at = end;
      continue;
    }
    if (text[at] == ';' || text[at] == '&' || text[at] == '|')
      armed = false;
    auto space = space_at(text, at);
    auto flag = at + space;
    if (!armed || space == 0
        || !begins_ignoring_case(text.substr(flag), "-p")) {
      at += std::max<size_t>(1, space);
      continue;
    }
    auto after_flag = flag + 2;
    auto value = glued ? after_flag : after_separator(text, after_flag);
    auto end = value_end(text, value);
    if (end == value || (!glued && value == after_flag)) {
      at = flag;
      continue;
    }
    result.replace(after_flag, end, glued ? "" : " ", redacted);
    armed = false;
    at = end;
  }
  return result.finish();
}

/// Whether the name in text[begin, end) assigns to a secret.
bool is_secret_variable(std::string_view text, size_t begin, size_t end) {
  return ends_with_secret_name(
    text.substr(begin, end - begin), [&](size_t start) {
      auto name = begin + start;
      if (is_word_boundary(text, name))
        return true;
      for (auto at = begin; at < name; ++at)
        if (is_letter(text[at]) && is_word_boundary(text, at))
          return true;
      return false;
    });
}

/// End of `Bearer ` or `Basic ` at `pos`, when a value follows; else `pos`.
size_t after_scheme(std::string_view text, size_t pos) {
  for (std::string_view scheme : {"bearer", "basic"}) {
    if (!begins_ignoring_case(text.substr(pos), scheme))
      continue;
    auto end = pos + scheme.size();
    auto value = skip_spaces(text, end);
    if (value > end && value_end(text, value) > value)
      return value;
  }
  return pos;
}

/// token = x and password: x.
std::optional<std::string> without_assigned_secrets(std::string_view text) {
  rewriter result{text};
  size_t from = 0;
  for (auto at = find_any<':', '='>(text, 0); at != npos;
       at = find_any<':', '='>(text, from)) {
    from = at + 1;
    auto end = at;
    while (end > result.done()) {
      auto space = space_before(text, end);
      if (space == 0)
        break;
      end -= space;
    }
    auto begin = end;
    while (begin > result.done() && is_name_char(text[begin - 1]))
      --begin;
    if (!is_secret_variable(text, begin, end))
      continue;
    auto value = after_scheme(text, skip_spaces(text, at + 1));
    auto value_after = value_end(text, value);
    if (value_after == value)
      continue;
    result.replace(end, value_after, "=", redacted);
    from = value_after;
  }
  return result.finish();
}

/// Bearer x and Basic x.
std::optional<std::string> without_credentials(std::string_view text) {
  rewriter result{text};
  size_t from = 0;
  for (auto at = find_any<'b', 'B'>(text, 0); at != npos;
       at = find_any<'b', 'B'>(text, from)) {
    from = at + 1;
    if (at > 0 && is_word(text[at - 1]))
      continue;
    auto end = run_end(text, at, is_word);
    from = end;
    auto word = text.substr(at, end - at);
    if (!same_ignoring_case(word, "bearer")
        && !same_ignoring_case(word, "basic"))
      continue;
    auto value = skip_spaces(text, end);
    auto value_after = value_end(text, value);
    if (value == end || value_after == value)
      continue;
    result.replace(end, value_after, " ", redacted);
    from = value_after;
  }
  return result.finish();
}

// -- kinds of tokens ----------------------------------------------------------

/// Latest end of a word in [begin + min, end]; npos without one.
size_t last_boundary(std::string_view text, size_t begin, size_t end,
                     size_t min) {
  for (; end >= begin + min; --end)
    if (is_word_boundary(text, end))
      return end;
  return npos;
}

/// What a token consists of behind its beginning.
struct token_kind {
  std::string_view beginning;
  /// Letters of which one follows; empty = none.
  std::string_view choice;
  std::string_view middle;
  bool (*is_member)(char);
  size_t min;
  /// 0 = any number above min.
  size_t exact;
};

bool is_upper_or_digit(char c) {
  return is_upper(c) || is_digit(c);
}

bool is_alnum_or_dash(char c) {
  return is_alnum(c) || c == '-';
}

constexpr token_kind token_kinds[] = {
  {"sk-", "", "", is_name_char, 12, 0},
  {"gh", "oprsu", "_", is_alnum, 20, 0},
  {"xox", "baprs", "-", is_alnum_or_dash, 10, 0},
  {"AKIA", "", "", is_upper_or_digit, 16, 16},
};

std::optional<std::string> without_tokens(std::string_view text,
                                          const token_kind& kind) {
  rewriter result{text};
  size_t from = 0;
  for (auto at = text.find(kind.beginning); at != npos;
       at = text.find(kind.beginning, from)) {
    auto begin = at + kind.beginning.size();
    from = begin;
    if (!is_word_boundary(text, at))
      continue;
    if (!kind.choice.empty()) {
      if (begin >= text.size() || kind.choice.find(text[begin]) == npos)
        continue;
      ++begin;
    }
    if (!text.substr(begin).starts_with(kind.middle))
      continue;
    begin += kind.middle.size();
    auto end = run_end(text, begin, kind.is_member);
    auto token_end = kind.exact != 0 && end - begin != kind.exact
                       ? npos
                       : last_boundary(text, begin, end, kind.min);
    // A later beginning within this run would end where this one does.
    from = std::max(from, end);
    if (token_end == npos)
      continue;
    result.replace(at, token_end, redacted);
    from = token_end;
  }
  return result.finish();
}

/// 123456:secret, as bots of Telegram have it.
std::optional<std::string> without_bot_tokens(std::string_view text) {
  rewriter result{text};
  size_t from = 0;
  for (auto at = text.find(':'); at != npos; at = text.find(':', from)) {
    auto floor = from;
    from = at + 1;
    auto begin = at;
    while (begin > floor && is_digit(text[begin - 1]))
      --begin;
    if (at - begin < 6 || !is_word_boundary(text, begin))
      continue;
    auto end = last_boundary(text, at + 1, name_end(text, at + 1), 20);
    if (end == npos)
      continue;
    result.replace(begin, end, redacted);
    from = end;
  }
  return result.finish();
}

/// JSON web tokens: three groups joined by dots.
std::optional<std::string> without_web_tokens(std::string_view text) {
  constexpr std::string_view beginning = "eyJ";
  constexpr size_t group = 8;
  rewriter result{text};
  size_t from = 0;
  for (auto at = text.find(beginning); at != npos;
       at = text.find(beginning, from)) {
    if (!is_word_boundary(text, at)) {
      from = at + 1;
      continue;
    }
    auto first = at + beginning.size();
    auto first_end = name_end(text, first);
    // A later beginning within this group has the same groups behind it.
    from = first_end;
    auto second = first_end + 1;
    if (first_end - first < group || first_end >= text.size()
        || text[first_end] != '.')
      continue;
    auto second_end = name_end(text, second);
    if (second_end - second < group || second_end >= text.size()
        || text[second_end] != '.')
      continue;
    auto third = second_end + 1;
    auto end = last_boundary(text, third, name_end(text, third), group);
    if (end == npos)
      continue;
    result.replace(at, end, redacted);
    from = end;
  }
  return result.finish();
}

} // namespace

// Most texts lack what most rules look for: one pass tells which rules may find
// something, and only those go through the text. What a rule puts in holds
// nothing that a later one begins with.
std::string redact(std::string_view text) {
  const characters has{text};
  std::optional<std::string> result;
  auto apply = [&](bool needed, auto rule, const auto&... how) {
    if (!needed)
      return;
    if (auto changed = rule(result ? *result : text, how...))
      result = std::move(changed);
  };
  auto assigns = has.any(":=");
  auto dashes = has.any("-");
  auto mysql = dashes && has.any("mM") && has.any("pP");
  apply(has.all(":/@"), without_userinfo);
  apply(has.any("?&") && has.any("="), without_query_secrets);
  apply(dashes, without_flag_secrets);
  apply(dashes && has.any(":") && has.any("uU"), without_login_flags);
  apply(mysql, without_mysql_passwords, false);
  apply(mysql, without_mysql_passwords, true);
  apply(assigns, without_assigned_secrets);
  apply(has.any("bB"), without_credentials);
  for (const auto& kind : token_kinds)
    apply(has.all(kind.beginning), without_tokens, kind);
  apply(has.any(":") && has.any("0123456789"), without_bot_tokens);
  apply(has.all("eyJ."), without_web_tokens);
  return result ? std::move(*result) : std::string{text};
}

} // namespace bureau::contracts
