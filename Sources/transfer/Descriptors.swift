import Glibc

/// The descriptors that the process has from its start, and how many it may have.
enum Descriptors {
    /// Opens `/dev/null` as standard input, output or error where that was closed: the next file, socket or eventfd of ours
    /// would get its number, and would be written to as standard output. Before anything else is opened.
    ///
    /// Standard output is opened for reading, so that what is written to it fails: nobody has got it.
    static func fillStandard() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // It gets the lowest number that is free, which is this one.
            _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// As many as the system lets us have: each transfer has a file and a connection.
    static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
