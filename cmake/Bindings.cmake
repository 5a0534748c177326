# What other languages need beside libsock.so: the known systems as a shared library of their own, and the component
# `python`, the libraries as they go into the wheel (python/wheelmaker.py installs it).
#
# The systems use the base of the library (random streams, safe files), which libsock.so does not export: those few
# objects come from the archive and stay hidden, everything public comes from libsock.so.
# An interpreter may have loaded another flavour of OpenBLAS before us (SciPy does), and the loader would take that one
# for ours because both are called libopenblas.so.0. A library that is needed by its full path is not mistaken: an empty
# one, whose name is the path of the flavour that we were built with, puts it into libsock.so, in front.
set(SOCK_OPENBLAS_FILE ${OPENBLAS_FOLDER}/libopenblas.so.0)
if(EXISTS ${SOCK_OPENBLAS_FILE})
  file(WRITE ${PROJECT_BINARY_DIR}/openblas_path.c "typedef int nothing;\n")
  add_library(openblas_path SHARED ${PROJECT_BINARY_DIR}/openblas_path.c)
  set_target_properties(openblas_path PROPERTIES NO_SONAME ON)
  target_link_options(openblas_path PRIVATE LINKER:-soname,${SOCK_OPENBLAS_FILE})
  add_dependencies(sock_shared openblas_path)
  target_link_options(sock_shared PRIVATE LINKER:--push-state,--no-as-needed $<TARGET_FILE:openblas_path>
                                          LINKER:--pop-state)
endif()

file(GLOB SYSTEMS_SOURCES CONFIGURE_DEPENDS systems/*.c)
add_library(sock_systems SHARED ${SYSTEMS_SOURCES})
set_target_properties(sock_systems PROPERTIES OUTPUT_NAME socksystems VERSION ${PROJECT_VERSION}
                                              SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(sock_systems PRIVATE ${PROJECT_SOURCE_DIR} include src)
target_link_libraries(sock_systems PRIVATE sock_flags sock_shared sock_static)
target_link_options(sock_systems PRIVATE LINKER:--exclude-libs,ALL)

set(BINDING_LIBRARIES sock_shared sock_systems)
if(TARGET sockreport)
  list(APPEND BINDING_LIBRARIES sockreport)
endif()
# With the path of the installation from the start: a path that is to be changed later is padded with empty places, which the
# loader takes for the current folder.
set_target_properties(${BINDING_LIBRARIES} PROPERTIES INSTALL_RPATH "$ORIGIN;${OPENBLAS_FOLDER}" BUILD_WITH_INSTALL_RPATH ON)
add_custom_target(bindings DEPENDS ${BINDING_LIBRARIES})
install(TARGETS ${BINDING_LIBRARIES} LIBRARY DESTINATION . NAMELINK_SKIP COMPONENT python EXCLUDE_FROM_ALL)
