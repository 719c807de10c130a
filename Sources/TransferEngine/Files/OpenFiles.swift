import Glibc
public import TransferCore

/// Descriptors of this process and of the machine: files, connections and events share their number.
public enum OpenFiles {
    /// Whether a system call failed for want of them (EMFILE, ENFILE; errno(3)).
    public static func isLack(_ number: Int32) -> Bool { number == EMFILE || number == ENFILE }

    /// Whether a failure of this machine's own may come of that: it says so, or it doesn't say why and none is to be had
    /// now either. Libraries (name look-ups, TLS) tell what they couldn't do, and not that they could open no file for it.
    public static func areLacking(_ error: TransferError) -> Bool {
        if let number = error.errno { return isLack(number) }
        switch error.code {
        case .cannotConnect, .cannotResolveHost, .secureConnectionFailed, .certificateRefused, .hostKeyRefused,
            .fileAccess, .internalFault, .secretMissing:
            return areExhausted
        default: return false
        }
    }

    /// Whether there is none now.
    package static var areExhausted: Bool {
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return isLack(errno)
    }

    /// How many the process may have (getrlimit(2)).
    public static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }
}
