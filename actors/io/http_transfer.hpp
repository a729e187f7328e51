#pragma once

#include "actors/io/event_loop.hpp"
#include "messages/interfaces/http.hpp"

#include <caf/typed_actor.hpp>

#include <curl/curl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bureau::io {

/// What holds for every transfer of the node.
struct http_options {
  /// Proxies from the boot configuration; empty = direct. The environment is
  /// never consulted.
  std::string http_proxy;
  std::string https_proxy;
  /// Hosts that are reached directly, comma separated; this machine always is.
  std::string no_proxy;
  /// File with the certificates to trust; empty = the system's.
  std::string ca_file;
};

/// One transfer and its curl handle; used by the loop's thread only. In stream
/// mode it sends head and chunks to the sink, in fetch mode it collects.
class http_transfer {
public:
  /// @param sink empty handle = fetch mode
  /// @param dirty list of the loop: transfers that have bytes to flush
  http_transfer(http_request request, http_sink_actor sink,
                const http_options& options,
                std::vector<http_transfer*>& dirty);
  http_transfer(const http_transfer&) = delete;
  http_transfer& operator=(const http_transfer&) = delete;
  ~http_transfer();

  uint64_t id() const { return request_.id; }
  CURL* handle() const { return easy_; }
  bool is_fetch() const { return !sink_; }

  /// Sets the curl handle up. @return false when curl is out of memory
  bool prepare();

  /// Sends what was collected in this turn as chunks.
  void flush();

  /// Takes an acknowledgement. @return whether the transfer may continue now:
  /// the caller then unpauses the handle
  bool acknowledge(uint64_t bytes);

  /// The last words after flush().
  http_done done(http_error error, std::string detail) const;

  /// The last words for what curl reports.
  http_done done(CURLcode code);

  /// The collected response (fetch mode), moved out.
  http_response take_response() { return std::move(response_); }

  /// Sends a last event to the sink.
  void send_done(const http_done& end) const;

private:
  static size_t write_entry(char* data, size_t size, size_t count, void* self);
  static size_t header_entry(char* data, size_t size, size_t count, void* self);

  bool prepare_body();
  bool prepare_parts();
  bool prepare_headers();
  void prepare_network();
  size_t take_body(std::string_view bytes);
  bool take_header(std::string_view line);
  void finish_head();
  void send_head();
  /// Makes the current callback fail for a reason of ours.
  void fail(http_error error, std::string detail);
  std::string describe(CURLcode code) const;

  http_request request_;
  http_sink_actor sink_;
  const http_options& options_;
  std::vector<http_transfer*>& dirty_;
  CURL* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  curl_mime* mime_ = nullptr;
  std::string error_text_;
  event_loop::time_point started_;
  event_loop::time_point first_byte_;
  http_response response_;
  std::string version_;
  size_t header_bytes_ = 0;
  bool head_sent_ = false;
  bool is_dirty_ = false;
  bool paused_ = false;
  std::string pending_;
  uint64_t seq_ = 0;
  uint64_t unacked_ = 0;
  uint64_t bytes_in_ = 0;
  http_error own_error_ = http_error::none;
  std::string own_detail_;
};

} // namespace bureau::io
