# CPack runs this between installation and packing. What was installed becomes what Debian wants: manual pages are
# compressed, zsh's functions lie in a folder of their own, and each package has a changelog and, for LICENSE, a copyright.

# CPack's own installation is none that "uninstall" may take back: it would remove what the packages put into /usr.
if(CPACK_GENERATOR MATCHES "DEB|TGZ")
  file(GLOB manifests ${CPACK_MCGEN_BUILD}/install_manifest_*.txt)
else()
  set(manifests ${CPACK_MCGEN_BUILD}/install_manifest.txt)
endif()
if(manifests)
  file(REMOVE ${manifests})
endif()

if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
find_program(gzip gzip REQUIRED)
function(compress)
  execute_process(COMMAND ${gzip} -9nf ${ARGN} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "gzip failed: ${ARGN}")
  endif()
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share)
  file(GLOB pages ${share}/man/man1/*.1)
  if(pages)
    compress(${pages})
  endif()
  if(EXISTS ${share}/zsh/site-functions)
    file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
  endif()
  file(REMOVE ${share}/doc/${name}/LICENSE)
  file(WRITE ${share}/doc/${name}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: mcgen

Files: *
Copyright: 2026 the authors of mcgen
License: Apache-2.0
 Debian systems have the Apache License, version 2.0, in
 /usr/share/common-licenses/Apache-2.0.
")
  file(WRITE ${share}/doc/${name}/changelog "mcgen (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * CHANGELOG.md of the package mcgen tells what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress(${share}/doc/${name}/changelog)
endforeach()
