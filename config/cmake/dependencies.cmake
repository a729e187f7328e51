# Imported targets of the libraries Bureau stands on. Debian packages them all;
# config/dev/packages lists the package names.
find_package(Threads REQUIRED)
find_package(CAF REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Poco 1.11 REQUIRED COMPONENTS Foundation Net)

# Debian keeps the JSON-capable Boost beside the default one. Its archive: what is
# not used stays out, and calls into it go no detour (a fifth of the time that deep
# values take).
find_path(BOOST_JSON_INCLUDE_DIR boost/json.hpp REQUIRED)
find_library(BOOST_JSON_ARCHIVE NAMES libboost_json.a boost_json REQUIRED)
add_library(bureau_boost_json INTERFACE IMPORTED)
target_include_directories(bureau_boost_json SYSTEM INTERFACE ${BOOST_JSON_INCLUDE_DIR})
target_link_libraries(bureau_boost_json INTERFACE ${BOOST_JSON_ARCHIVE})

foreach(entry IN ITEMS "ssl:libcrypto" "seccomp:libseccomp" "edit:libedit")
  string(REPLACE ":" ";" pair "${entry}")
  list(GET pair 0 name)
  list(GET pair 1 module)
  pkg_check_modules(BUREAU_${name} REQUIRED IMPORTED_TARGET ${module})
  add_library(bureau_${name} INTERFACE IMPORTED)
  target_link_libraries(bureau_${name} INTERFACE PkgConfig::BUREAU_${name})
endforeach()

# Loaded with the first transfer, so only its headers are needed (ADR 0016).
pkg_check_modules(BUREAU_curl REQUIRED libcurl)
add_library(bureau_curl INTERFACE IMPORTED)
target_include_directories(bureau_curl SYSTEM INTERFACE ${BUREAU_curl_INCLUDE_DIRS})

find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(date REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(doctest REQUIRED)
