#include "actors/io/http_transfer.hpp"

#include "actors/io/curl_library.hpp"
#include "actors/io/http_core.hpp"
#include "messages/limits.hpp"
#include "messages/product.hpp"

#include <caf/send.hpp>

#include <strings.h>

#include <algorithm>
#include <charconv>

namespace bureau::io {

namespace {

http_error error_of(CURLcode code) {
  switch (code) {
  case CURLE_OK:
    return http_error::none;
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY:
    return http_error::resolve;
  case CURLE_COULDNT_CONNECT:
    return http_error::connect;
  case CURLE_OPERATION_TIMEDOUT:
    return http_error::timeout;
  case CURLE_RECV_ERROR:
  case CURLE_SEND_ERROR:
  case CURLE_GOT_NOTHING:
    return http_error::reset;
  case CURLE_PARTIAL_FILE:
    return http_error::truncated;
  case CURLE_FILESIZE_EXCEEDED:
    return http_error::too_large;
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_CIPHER:
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_ISSUER_ERROR:
  case CURLE_SSL_INVALIDCERTSTATUS:
  case CURLE_SSL_SHUTDOWN_FAILED:
  case CURLE_USE_SSL_FAILED:
    return http_error::tls;
  case CURLE_WEIRD_SERVER_REPLY:
  case CURLE_UNSUPPORTED_PROTOCOL:
  case CURLE_HTTP_RETURNED_ERROR:
  case CURLE_BAD_CONTENT_ENCODING:
  case CURLE_TOO_MANY_REDIRECTS:
  case CURLE_PROXY:
    return http_error::protocol;
  default:
    return http_error::local;
  }
}

bool is_redirect(uint32_t status) {
  return status == 301 || status == 302 || status == 303 || status == 307
         || status == 308;
}

bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size()
         && strncasecmp(left.data(), right.data(), left.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Adds a header; on failure the list stays as it was.
bool append(curl_slist*& list, const std::string& line) {
  auto longer = curl().slist_append(list, line.c_str());
  if (longer != nullptr)
    list = longer;
  return longer != nullptr;
}

} // namespace

http_transfer::http_transfer(http_request request, http_sink_actor sink,
                             const http_options& options,
                             std::vector<http_transfer*>& dirty)
  : request_(std::move(request)), sink_(std::move(sink)), options_(options),
    dirty_(dirty), error_text_(CURL_ERROR_SIZE, '\0'),
    started_(event_loop::now()), first_byte_(started_) {
}

http_transfer::~http_transfer() {
  if (easy_ != nullptr)
    curl().easy_cleanup(easy_);
  if (mime_ != nullptr)
    curl().mime_free(mime_);
  if (header_list_ != nullptr)
    curl().slist_free_all(header_list_);
}

bool http_transfer::prepare() {
  easy_ = curl().easy_init();
  if (easy_ == nullptr)
    return false;
  curl().easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl().easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_.data());
  curl().easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &http_transfer::write_entry);
  curl().easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl().easy_setopt(easy_, CURLOPT_HEADERFUNCTION,
                     &http_transfer::header_entry);
  curl().easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  if (curl().easy_setopt(easy_, CURLOPT_URL, request_.url.c_str()) != CURLE_OK)
    return false;
  prepare_network();
  if (!(request_.parts.empty() ? prepare_body() : prepare_parts()))
    return false;
  // The method as given wins over what curl derives from the body.
  if (request_.method == "HEAD")
    curl().easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  else
    curl().easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  return prepare_headers();
}

void http_transfer::prepare_network() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  auto set = [this](CURLoption option, long value) {
    curl().easy_setopt(easy_, option, value);
  };
  auto set_text = [this](CURLoption option, const std::string& value) {
    curl().easy_setopt(easy_, option, value.c_str());
  };
  set(CURLOPT_NOSIGNAL, 1);
  set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  set(CURLOPT_TCP_KEEPALIVE, 1);
  set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  set(CURLOPT_SSL_VERIFYPEER, 1);
  set(CURLOPT_SSL_VERIFYHOST, 2);
  set(CURLOPT_NETRC, CURL_NETRC_IGNORED);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
  // A cancelled look-up must not hold the loop until the resolver gives up.
  set(CURLOPT_QUICK_EXIT, 1);
  set_text(CURLOPT_PROTOCOLS_STR, "http,https");
  set_text(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  if (!options_.ca_file.empty())
    set_text(CURLOPT_CAINFO, options_.ca_file);
  auto is_tls = request_.url.size() > 5
                && strncasecmp(request_.url.c_str(), "https", 5) == 0;
  // Always set: an unset proxy would be looked up in the environment.
  set_text(CURLOPT_PROXY, is_loopback(request_.url) ? std::string{}
                          : is_tls                  ? options_.https_proxy
                                                    : options_.http_proxy);
  set_text(CURLOPT_NOPROXY, options_.no_proxy);
  auto connect_ms = request_.connect_timeout_ms == 0
                      ? http_request{}.connect_timeout_ms
                      : request_.connect_timeout_ms;
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_ms));
  set(CURLOPT_TIMEOUT_MS,
      static_cast<long>(
        duration_cast<milliseconds>(limits::http_backstop).count()));
  set(CURLOPT_FOLLOWLOCATION, request_.redirects > 0 ? 1 : 0);
  set(CURLOPT_MAXREDIRS, static_cast<long>(request_.redirects));
}

bool http_transfer::prepare_body() {
  auto carries_body = !request_.body.empty() || request_.method == "POST"
                      || request_.method == "PUT" || request_.method == "PATCH";
  if (!carries_body)
    return true;
  curl().easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
  return curl().easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.data())
         == CURLE_OK;
}

bool http_transfer::prepare_parts() {
  mime_ = curl().mime_init(easy_);
  if (mime_ == nullptr)
    return false;
  for (const auto& part : request_.parts) {
    auto added = curl().mime_addpart(mime_);
    if (added == nullptr)
      return false;
    auto ok = curl().mime_name(added, part.name.c_str()) == CURLE_OK
              && curl().mime_data(added, part.bytes.data(), part.bytes.size())
                   == CURLE_OK;
    if (ok && !part.filename.empty())
      ok = curl().mime_filename(added, part.filename.c_str()) == CURLE_OK;
    if (ok && !part.content_type.empty())
      ok = curl().mime_type(added, part.content_type.c_str()) == CURLE_OK;
    if (!ok)
      return false;
  }
  // curl keeps its own copy.
  request_.parts.clear();
  request_.parts.shrink_to_fit();
  return curl().easy_setopt(easy_, CURLOPT_MIMEPOST, mime_) == CURLE_OK;
}

bool http_transfer::prepare_headers() {
  bool has_type = mime_ != nullptr;
  bool has_agent = false;
  bool has_expect = false;
  for (const auto& field : request_.headers) {
    has_type = has_type || same_name(field.name, "Content-Type");
    has_agent = has_agent || same_name(field.name, "User-Agent");
    has_expect = has_expect || same_name(field.name, "Expect");
    // curl's own notation for a header without a value.
    auto line = trimmed(field.value).empty() ? field.name + ";"
                                             : field.name + ": " + field.value;
    if (!append(header_list_, line))
      return false;
  }
  // curl would wait a second for a 100 that many servers never send.
  if (!has_expect && !append(header_list_, "Expect:"))
    return false;
  if (!has_type && !append(header_list_, "Content-Type:"))
    return false;
  if (!has_agent) {
    auto agent = std::string{product::name} + "/" + product::version;
    curl().easy_setopt(easy_, CURLOPT_USERAGENT, agent.c_str());
  }
  return curl().easy_setopt(easy_, CURLOPT_HTTPHEADER, header_list_)
         == CURLE_OK;
}

size_t http_transfer::write_entry(char* data, size_t size, size_t count,
                                  void* self) {
  return static_cast<http_transfer*>(self)->take_body({data, size * count});
}

size_t http_transfer::header_entry(char* data, size_t size, size_t count,
                                   void* self) {
  auto ok =
    static_cast<http_transfer*>(self)->take_header({data, size * count});
  return ok ? size * count : 0;
}

void http_transfer::fail(http_error error, std::string detail) {
  own_error_ = error;
  own_detail_ = std::move(detail);
}

size_t http_transfer::take_body(std::string_view bytes) {
  if (!is_fetch()
      && unacked_ + pending_.size() >= limits::stream_window_bytes) {
    paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  auto limit = request_.max_bytes;
  if (limit == 0 && is_fetch())
    limit = limits::http_fetch_bytes;
  if (limit != 0 && bytes_in_ + bytes.size() > limit) {
    fail(http_error::too_large,
         "the response is larger than " + std::to_string(limit) + " bytes");
    return 0;
  }
  send_head();
  bytes_in_ += bytes.size();
  if (is_fetch()) {
    response_.body += bytes;
    return bytes.size();
  }
  pending_ += bytes;
  if (!is_dirty_) {
    is_dirty_ = true;
    dirty_.push_back(this);
  }
  return bytes.size();
}

bool http_transfer::take_header(std::string_view line) {
  if (first_byte_ == started_)
    first_byte_ = event_loop::now();
  header_bytes_ += line.size();
  if (header_bytes_ > limits::http_header_bytes) {
    fail(http_error::protocol, "the response headers are too large");
    return false;
  }
  // Trailers after a chunked body are nobody's.
  if (head_sent_)
    return true;
  if (line.starts_with("HTTP/")) {
    response_.headers.clear();
    response_.status = 0;
    auto space = std::min(line.find(' '), line.size());
    version_ = line.substr(5, space - 5);
    auto digits = line.substr(std::min(space + 1, line.size()));
    std::from_chars(digits.data(), digits.data() + digits.size(),
                    response_.status);
    return true;
  }
  auto is_continuation = line.starts_with(' ') || line.starts_with('\t');
  auto text = trimmed(line);
  if (text.empty()) {
    finish_head();
    return true;
  }
  if (is_continuation && !response_.headers.empty()) {
    response_.headers.back().value += ' ';
    response_.headers.back().value += text;
    return true;
  }
  auto colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0)
    response_.headers.push_back({std::string{trimmed(text.substr(0, colon))},
                                 std::string{trimmed(text.substr(colon + 1))},
                                 false});
  return true;
}

void http_transfer::finish_head() {
  auto status = response_.status;
  if (status < 200)
    return;
  // The head that counts is the one of the page redirected to.
  if (request_.redirects > 0 && is_redirect(status)
      && !header_value(response_.headers, "Location").empty())
    return;
  send_head();
}

void http_transfer::send_head() {
  if (head_sent_)
    return;
  head_sent_ = true;
  if (!is_fetch())
    caf::anon_send(
      sink_, atom::h_head_v,
      http_head{request_.id, response_.status, response_.headers, version_});
}

void http_transfer::flush() {
  is_dirty_ = false;
  while (!pending_.empty()) {
    http_chunk chunk;
    chunk.id = request_.id;
    chunk.seq = seq_++;
    if (pending_.size() <= limits::stream_chunk_bytes) {
      chunk.bytes = std::move(pending_);
      pending_.clear();
    } else {
      chunk.bytes = pending_.substr(0, limits::stream_chunk_bytes);
      pending_.erase(0, limits::stream_chunk_bytes);
    }
    unacked_ += chunk.bytes.size();
    caf::anon_send(sink_, atom::h_chunk_v, std::move(chunk));
  }
}

bool http_transfer::acknowledge(uint64_t bytes) {
  unacked_ -= std::min(unacked_, bytes);
  if (!paused_ || unacked_ + pending_.size() > limits::stream_resume_bytes)
    return false;
  paused_ = false;
  return true;
}

http_done http_transfer::done(http_error error, std::string detail) const {
  auto now = event_loop::now();
  http_done result;
  result.id = request_.id;
  result.error = error;
  result.detail = std::move(detail);
  result.bytes_in = bytes_in_;
  result.ms_total = milliseconds_between(started_, now);
  result.ms_first_byte = milliseconds_between(started_, first_byte_);
  return result;
}

http_done http_transfer::done(CURLcode code) {
  auto origin = shown_origin(request_.url);
  if (own_error_ != http_error::none)
    return done(own_error_, origin + ": " + own_detail_);
  if (code != CURLE_OK)
    return done(error_of(code), origin + ": " + describe(code));
  // A response without a body.
  send_head();
  return done(http_error::none, {});
}

std::string http_transfer::describe(CURLcode code) const {
  std::string general = curl().easy_strerror(code);
  auto error = error_of(code);
  // curl's own words name hosts, ports and certificates here, elsewhere they
  // may quote what the server sent.
  auto is_safe = error == http_error::resolve || error == http_error::connect
                 || error == http_error::tls;
  std::string special = error_text_.c_str();
  if (!is_safe || special.empty())
    return general;
  for (auto& c : special)
    if (static_cast<unsigned char>(c) < 0x20)
      c = ' ';
  return special;
}

void http_transfer::send_done(const http_done& end) const {
  if (sink_)
    caf::anon_send(sink_, atom::h_done_v, end);
}

} // namespace bureau::io
