# Writes a C file that holds files as strings:  cmake -DOUT=FILE -DENTRIES="name=path;..." -P Embed.cmake
# Each becomes `const char name[]`, ended by a zero, and `const char name_sha256[]`, its hash in hexadecimal digits.
set(text "/* Made by cmake/Embed.cmake. */\n#include \"report/assets.h\"\n")
foreach(entry ${ENTRIES})
  string(REGEX MATCH "^([^=]+)=(.+)$" whole "${entry}")
  set(name ${CMAKE_MATCH_1})
  set(path ${CMAKE_MATCH_2})
  file(READ ${path} hex HEX)
  file(SHA256 ${path} hash)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," hex "${hex}")
  string(APPEND text "const char ${name}[] = {\n${hex}0};\nconst char ${name}_sha256[] = \"${hash}\";\n")
endforeach()
file(WRITE ${OUT} "${text}")
