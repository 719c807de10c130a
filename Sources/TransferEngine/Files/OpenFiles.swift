import Glibc
public import TransferCore

/// The descriptors of this process and of the machine: files, connections and events share their number.
public enum OpenFiles {
    /// Returns whether a system call failed for lack of descriptors (EMFILE, ENFILE; errno(3)).
    public static func isLack(_ number: Int32) -> Bool { number == EMFILE || number == ENFILE }

    /// Returns whether a local failure may be due to a lack of descriptors.
    ///
    /// Either its errno says so, or it has none and no descriptor is available now either. Libraries (name look-ups,
    /// TLS) report what they could not do, but not that they could open no file for it.
    public static func areLacking(_ error: TransferError) -> Bool {
        if let number = error.errno { return isLack(number) }
        switch error.code {
        case .cannotConnect, .cannotResolveHost, .secureConnectionFailed, .certificateRefused, .hostKeyRefused,
            .fileAccess, .internalFault, .secretMissing:
            return areExhausted
        default: return false
        }
    }

    /// Whether no descriptor is available now.
    package static var areExhausted: Bool {
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return isLack(errno)
    }

    /// The number of descriptors that the process may have (getrlimit(2)).
    public static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }
}
