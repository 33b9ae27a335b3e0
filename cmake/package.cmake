# Debian packages, one of each component of install.cmake: libmcrt1, libmcrt-dev, mcgen (docs/packaging.md).
#   cmake --build build --target package
set(MCGEN_MAINTAINER "mcgen maintainers <maintainers@mcgen.invalid>" CACHE STRING
    "Who answers for the Debian packages: NAME <ADDRESS>")
find_program(MCGEN_DPKG dpkg)
find_program(MCGEN_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(MCGEN_MAINTAINER MCGEN_DPKG MCGEN_SHLIBDEPS)

# mcgen_package(COMPONENT NAME SECTION DEPENDS SUGGESTS SUMMARY DESCRIPTION)
macro(mcgen_package component name section depends suggests summary description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "${suggests}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}")
  list(APPEND CPACK_COMPONENTS_ALL ${component})
endmacro()

macro(mcgen_packages)
  # Where there is no dpkg-shlibdeps the dependencies are stated, without versions.
  set(libraries "libc6, liblua5.4-0, libjansson4, libxxhash0, libb2-1, zlib1g")
  set(archives "liblua5.4-dev, libjansson-dev, libxxhash-dev, libb2-dev, zlib1g-dev")
  set(system "libc6")
  if(MCGEN_BUNDLE_DEPENDENCIES)
    set(libraries ${system})
    set(archives "")
  endif()
  if(MCGEN_SHLIBDEPS)
    set(libraries "")
    set(system "")
  endif()
  mcgen_package(runtime libmcrt1 libs "${libraries}" libcuda1
    "sparse matrix products by generated kernels, libraries"
    "libmcrt packs a sparse matrix, chooses or makes a kernel for it, and runs
that by the CUDA driver or on a simulator. The generator, the simulator and
the cache are here as libraries, too.")
  mcgen_package(development libmcrt-dev libdevel "libmcrt1 (= ${PROJECT_VERSION})" "${archives}"
    "sparse matrix products by generated kernels, headers"
    "Headers, archives, pkg-config files and a CMake package of libmcrt,
libmcgen, libmccache and libptxsim.")
  mcgen_package(tools mcgen devel "${system}" libcuda1
    "generator of specialised PTX for sparse matrix kernels"
    "mcgen writes the kernel that a spec describes; mcrun runs it, verifies and
tunes it, on a GPU or a simulator; mcbench measures it beside the vendor's
libraries. With specs, manuals and examples.")

  set(CPACK_GENERATOR DEB)
  if(NOT MCGEN_DPKG)
    set(CPACK_GENERATOR TGZ)
  endif()
  set(CPACK_PACKAGE_NAME mcgen)
  set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
  set(CPACK_PACKAGE_CONTACT ${MCGEN_MAINTAINER})
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  set(CPACK_DEBIAN_PACKAGE_SOURCE mcgen)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
  foreach(component RUNTIME TOOLS)
    set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS ${MCGEN_SHLIBDEPS})
  endforeach()
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
  # Where a package has libraries, dpkg has to call ldconfig.
  file(WRITE ${PROJECT_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers)
  set(CPACK_MCGEN_BUILD ${PROJECT_BINARY_DIR})
  set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)
  include(CPack)
endmacro()
