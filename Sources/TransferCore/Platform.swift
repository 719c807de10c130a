// The first file that a build elsewhere fails in: epoll, inotify and netlink are Linux's, and the calls are glibc's.
#if !os(Linux)
    #error("TransferKit runs on Linux only: it stands on epoll, inotify and route netlink.")
#elseif !canImport(Glibc)
    #error("TransferKit needs glibc: Swift's SDK for static Linux (musl) isn't supported.")
#endif
