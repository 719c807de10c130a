import Glibc

/// The descriptors that the process has at its start, and their limit.
enum Descriptors {
    /// Opens `/dev/null` in place of closed standard descriptors, before any other descriptor is opened.
    ///
    /// Without that, the next file, socket or eventfd would get the number of one of them, and would be written to as
    /// standard output. Standard input is opened for writing only and standard output for reading only, so that each
    /// use fails as with a closed descriptor (EBADF). Lost bytes are no success, and missing input is not an empty
    /// file. Messages to a closed standard error are dropped.
    static func fillStandard() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The call returns the lowest free number, which is this one.
            _ = open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY)
        }
    }

    /// Raises the limit of descriptors to the permitted maximum: each transfer has a file and a connection.
    static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
