# What is installed: the headers, the libraries, the program, sock.pc, find_package(sock), and the licence.
# Everything refers to its own place, so that the tree may be moved after the installation.
include(CMakePackageConfigHelpers)

install(FILES include/sock.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS sock_shared EXPORT sockTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sockreport LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES report/report.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} RENAME sockreport.h)
install(TARGETS sock_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET sock_program)
  install(TARGETS sock_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET sock_mpi)
  install(TARGETS sock_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES mpi/sock-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
# Manual pages, made by the program that was just built, and completion for shells.
if(TARGET sock_program AND NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/man1/sock.1
    COMMAND ${PROJECT_SOURCE_DIR}/tools/man-pages $<TARGET_FILE:sock_program> ${PROJECT_BINARY_DIR}/man1
    DEPENDS sock_program ${PROJECT_SOURCE_DIR}/tools/man-pages VERBATIM)
  add_custom_target(man ALL DEPENDS ${PROJECT_BINARY_DIR}/man1/sock.1)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES tools/completion/sock.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sock)
install(FILES tools/completion/_sock DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES tools/completion/sock.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The documents with all that they link to, so that no link of theirs leads nowhere.
install(FILES LICENSE README.md CHANGELOG.md TESTING.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples packages DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "CMakeLists.txt" EXCLUDE)
install(DIRECTORY experiments/notebook experiments/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/experiments)
foreach(document include/sock.h report/report.h compare/compare.h r/README.md debian/control)
  get_filename_component(folder ${document} DIRECTORY)
  install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

set(SOCK_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/sock)
install(EXPORT sockTargets NAMESPACE sock:: DESTINATION ${SOCK_CMAKE_FOLDER})
configure_package_config_file(cmake/sockConfig.cmake.in ${PROJECT_BINARY_DIR}/sockConfig.cmake
  INSTALL_DESTINATION ${SOCK_CMAKE_FOLDER} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sockConfig.cmake ${PROJECT_BINARY_DIR}/sockConfigVersion.cmake
  DESTINATION ${SOCK_CMAKE_FOLDER})
install(FILES cmake/Dependencies.cmake DESTINATION ${SOCK_CMAKE_FOLDER} RENAME sockDependencies.cmake)

# sock.pc finds its prefix from where it lies.
set(SOCK_PC_FOLDER ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH SOCK_PC_UP /prefix/${SOCK_PC_FOLDER} /prefix)
set(SOCK_PC_PRIVATE "-L${OPENBLAS_FOLDER} -Wl,-rpath,${OPENBLAS_FOLDER} -lopenblas ${OpenMP_C_FLAGS} -lpthread")
if(HAVE_MVEC)
  string(APPEND SOCK_PC_PRIVATE " -lmvec")
endif()
string(APPEND SOCK_PC_PRIVATE " -lm")
configure_file(cmake/sock.pc.in ${PROJECT_BINARY_DIR}/sock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sock.pc DESTINATION ${SOCK_PC_FOLDER})
