# The glue, and beside it the library that it opens.
target <- file.path(R_PACKAGE_DIR, paste0("libs", R_ARCH))
dir.create(target, recursive = TRUE, showWarnings = FALSE)
file.copy(Sys.glob(paste0("*", SHLIB_EXT)), target, overwrite = TRUE)
file.copy(readLines("libpath"), file.path(target, "libsock.so.0"), overwrite = TRUE)
# What R CMD check looks up in the objects.
if (file.exists("symbols.rds")) file.copy("symbols.rds", target, overwrite = TRUE)
