#include "actors/io/curl_library.hpp"

#include <dlfcn.h>

namespace bureau::io {

namespace {

/// The name of the interface that the headers describe, the same for many
/// years.
constexpr const char* library_name = "libcurl.so.4";

template <class Function>
void look_up(void* library, const char* name, Function& out,
             std::string& fault) {
  auto found = ::dlsym(library, name);
  if (found == nullptr && fault.empty())
    fault = std::string{library_name} + " has no " + name
            + "; install the libcurl4 of this system";
  out = reinterpret_cast<Function>(found);
}

curl_library load() {
  curl_library result;
  auto library = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    result.fault = std::string{"libcurl cannot be loaded ("} + ::dlerror()
                   + "); install libcurl4";
    return result;
  }
#define BUREAU_LOOK_UP(name)                                                   \
  look_up(library, "curl_" #name, result.name, result.fault)
  BUREAU_LOOK_UP(global_init);
  BUREAU_LOOK_UP(global_cleanup);
  BUREAU_LOOK_UP(easy_init);
  BUREAU_LOOK_UP(easy_setopt);
  BUREAU_LOOK_UP(easy_getinfo);
  BUREAU_LOOK_UP(easy_pause);
  BUREAU_LOOK_UP(easy_strerror);
  BUREAU_LOOK_UP(easy_cleanup);
  BUREAU_LOOK_UP(multi_init);
  BUREAU_LOOK_UP(multi_setopt);
  BUREAU_LOOK_UP(multi_add_handle);
  BUREAU_LOOK_UP(multi_remove_handle);
  BUREAU_LOOK_UP(multi_info_read);
  BUREAU_LOOK_UP(multi_socket_action);
  BUREAU_LOOK_UP(multi_cleanup);
  BUREAU_LOOK_UP(mime_init);
  BUREAU_LOOK_UP(mime_addpart);
  BUREAU_LOOK_UP(mime_name);
  BUREAU_LOOK_UP(mime_filename);
  BUREAU_LOOK_UP(mime_type);
  BUREAU_LOOK_UP(mime_data);
  BUREAU_LOOK_UP(mime_free);
  BUREAU_LOOK_UP(slist_append);
  BUREAU_LOOK_UP(slist_free_all);
#undef BUREAU_LOOK_UP
  return result;
}

} // namespace

const curl_library& curl() {
  static const curl_library library = load();
  return library;
}

} // namespace bureau::io
