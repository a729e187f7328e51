#pragma once

#include <curl/curl.h>

#include <string>

namespace bureau::io {

/// The functions of libcurl that are used, by their names without `curl_`.
/// They are looked up when the first transfer starts (docs/adr/0016): a node
/// that never calls out carries neither libcurl nor the TLS, Kerberos and LDAP
/// libraries that it brings along.
struct curl_library {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_global_cleanup) global_cleanup = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_pause) easy_pause = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_setopt) multi_setopt = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_socket_action) multi_socket_action = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&curl_mime_init) mime_init = nullptr;
  decltype(&curl_mime_addpart) mime_addpart = nullptr;
  decltype(&curl_mime_name) mime_name = nullptr;
  decltype(&curl_mime_filename) mime_filename = nullptr;
  decltype(&curl_mime_type) mime_type = nullptr;
  decltype(&curl_mime_data) mime_data = nullptr;
  decltype(&curl_mime_free) mime_free = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  /// Why they are not there; empty: they are.
  std::string fault;
};

/// The library, loaded by the first call; it stays for the life of the process.
/// Thread safe. Without a fault every function is there.
const curl_library& curl();

} // namespace bureau::io
