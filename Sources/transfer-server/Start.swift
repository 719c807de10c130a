import ArgumentParser
import CTransferProgram
import Glibc
import Synchronization
import TransferEventLoop
import TransferQueue
import TransferServer

/// The program that the command `transfer serve` starts.
@main
enum Start {
    static func main() async {
        transfer_limits_prepare()
        CommandPhrases.speak()
        signal(SIGPIPE, SIG_IGN)
        // A file beyond the size limit must be an error of write(2) (EFBIG; setrlimit(2), RLIMIT_FSIZE), not a signal.
        signal(SIGXFSZ, SIG_IGN)
        // A SIGHUP that arrives before the files have been read for the first time must not end the program.
        if isatty(STDERR_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        // The library libdispatch asks for threads of higher priority, which only root may have, and reports the
        // refusal to the system log.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        raiseLimit()
        do {
            let command = try ServeCommand.parse()
            if let lack = StartingLimits.service.lack() { end(lack, EXIT_FAILURE) }
            try await command.run()
            exit(StandardStreams.isComplete ? EX_OK : EX_IOERR)
        } catch let error as TransferError {
            end(error.message, status(of: error))
        } catch let error as ValidationError {
            end(error.message, EX_USAGE)
        } catch {
            let status = ServeCommand.exitCode(for: error).rawValue
            let text = ServeCommand.fullMessage(for: error)
            if status == EX_OK { StandardStreams.say(text) } else { StandardStreams.tell(text) }
            exit(status == EX_OK && !StandardStreams.isComplete ? EX_IOERR : status)
        }
    }

    /// Returns the exit status for an error. A fault of the configuration or of the database's rights stays as long as no
    /// person acts: the units do not start the service again after `EX_DATAERR` and `EX_CONFIG`.
    private static func status(of error: TransferError) -> Int32 {
        switch error.code {
        case .invalidRequest, .secretMissing: EX_DATAERR
        case .databaseRefused where !error.isTransient, .rightMissing where !error.isTransient: EX_CONFIG
        default: EX_IOERR
        }
    }

    private static func end(_ message: String, _ status: Int32) -> Never {
        StandardStreams.tell("transfer serve: \(message)")
        exit(status)
    }

    /// Raises the limit of descriptors, since each transfer needs a file and a connection, and each client a
    /// connection.
    private static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// The output for people: the address on standard output, everything else on standard error.
enum StandardStreams {
    private static let failed = Atomic(false)

    /// Whether all output was written. A reader that closed its end (EPIPE) needs no more.
    static var isComplete: Bool { !failed.load(ordering: .relaxed) }

    static func tell(_ line: String) { _ = write(line, to: STDERR_FILENO) }

    static func say(_ line: String) {
        let code = write(line, to: STDOUT_FILENO)
        guard code != 0, code != EPIPE else { return }
        failed.store(true, ordering: .relaxed)
        let reason = String(cString: strerror(code)).lowercased()
        tell("transfer serve: standard output is incomplete: \(reason)")
    }

    /// Writes a line.
    ///
    /// - Returns: The `errno` of a failed write, or 0.
    private static func write(_ line: String, to descriptor: Int32) -> Int32 {
        let bytes = Array((line + "\n").utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno == 0 ? EIO : errno }
            done += count
        }
        return 0
    }
}
