#pragma once

#include "messages/interfaces/http.hpp"

#include <caf/error.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bureau::test {

/// What the fake does with one request.
struct http_script {
  uint32_t status = 200;
  std::vector<header_field> headers;
  /// Pieces of the body, sent within the window of the protocol.
  std::vector<std::string> chunks;
  /// How the transfer ends after the chunks.
  http_error error = http_error::none;
  std::string detail;
  /// The transfer ends before any head (a refused connection).
  bool no_head = false;
  /// Stays open after the chunks until finish(), a cancel or the sink's end. A
  /// held fetch is never answered: its requester times out.
  bool hold = false;
  /// Set: start and fetch answer this error and nothing follows.
  caf::error refuse;
};

/// What a test sees and steers of fake_http. Own it in the test, for longer
/// than the story and shorter than the fixture: its end ends the fake.
class http_probe {
public:
  http_probe() = default;
  http_probe(const http_probe&) = delete;
  http_probe& operator=(const http_probe&) = delete;
  ~http_probe();

  /// Answers the next request whose URL begins with `url_prefix` ("" = any).
  /// Earlier scripts go first. A request without a script ends with
  /// http_error::connect and is noted in `unscripted`.
  void script(http_script answer, std::string url_prefix = {});

  /// Like script, but answers every such request that no other script takes.
  void always(http_script answer, std::string url_prefix = {});

  /// Continues an open stream.
  void push(uint64_t id, std::string bytes);

  /// Ends an open stream after what was pushed.
  void finish(uint64_t id, http_error error = http_error::none,
              std::string detail = {});

  /// Every accepted or refused request, in order.
  std::vector<http_request> requests;
  std::vector<std::string> unscripted;
  /// Every http_cancel that arrived.
  std::vector<uint64_t> cancels;
  /// Streams whose sink ended before its stream.
  std::vector<uint64_t> abandoned;
  /// Acknowledged bytes of each stream.
  std::map<uint64_t, uint64_t> acked;
  /// Streams that are open.
  std::vector<uint64_t> open;

private:
  friend struct fake_http_state;
  struct plan {
    std::string url_prefix;
    http_script answer;
    bool repeat = false;
  };

  /// The script for a request, or one that fails.
  http_script take(const http_request& request);

  std::vector<plan> plans_;
  std::function<void(uint64_t, std::string)> push_;
  std::function<void(uint64_t, http_error, std::string)> finish_;
  std::function<void()> quit_;
};

/// The http client without network and threads: scripted answers with the real
/// protocol — order of events, windows, chunk size, cancels, monitors.
http_client_actor spawn_fake_http(caf::actor_system& system,
                                  std::shared_ptr<http_probe> probe);

} // namespace bureau::test
