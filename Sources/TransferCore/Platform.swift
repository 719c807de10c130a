// The file that makes builds fail on other systems: epoll, inotify and netlink belong to Linux, and the calls are
// glibc's.
#if !os(Linux)
    #error("TransferKit runs on Linux only: it stands on epoll, inotify and route netlink.")
#elseif !canImport(Glibc)
    #error("TransferKit needs glibc: Swift's SDK for static Linux (musl) is not supported.")
#endif
