import ArgumentParser
import CTransferLimits
import Glibc
import Synchronization
import TransferEventLoop
import TransferQueue
import TransferServer

/// The program that `transfer serve` becomes.
@main
enum Start {
    static func main() async {
        transfer_limits_prepare()
        CommandPhrases.speak()
        signal(SIGPIPE, SIG_IGN)
        // A file beyond the limit of sizes is an error of write(2) (EFBIG; setrlimit(2), RLIMIT_FSIZE).
        signal(SIGXFSZ, SIG_IGN)
        // Whoever has the files read again before they were read for the first time needn't end the program.
        if isatty(STDERR_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        // libdispatch asks for threads of higher priority, which only root may have, and tells the system's log.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        raiseLimit()
        do {
            let command = try ServeCommand.parse()
            if let lack = StartingLimits.service.lack() { end(lack, EXIT_FAILURE) }
            try await command.run()
            exit(StandardStreams.isComplete ? EX_OK : EX_IOERR)
        } catch let error as TransferError {
            end(error.message, error.code == .invalidRequest ? EX_DATAERR : EX_IOERR)
        } catch let error as ValidationError {
            end(error.message, EX_USAGE)
        } catch {
            let status = ServeCommand.exitCode(for: error).rawValue
            let text = ServeCommand.fullMessage(for: error)
            if status == EX_OK { StandardStreams.say(text) } else { StandardStreams.tell(text) }
            exit(status == EX_OK && !StandardStreams.isComplete ? EX_IOERR : status)
        }
    }

    private static func end(_ message: String, _ status: Int32) -> Never {
        StandardStreams.tell("transfer serve: \(message)")
        exit(status)
    }

    /// Each transfer has a file and a connection, and each client has one.
    private static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// What people read: the address on standard output, everything else on standard error.
enum StandardStreams {
    private static let failed = Atomic(false)

    /// Whether all that was said could be written. A reader that went away (EPIPE) has what it wanted.
    static var isComplete: Bool { !failed.load(ordering: .relaxed) }

    static func tell(_ line: String) { _ = write(line, to: STDERR_FILENO) }

    static func say(_ line: String) {
        let code = write(line, to: STDOUT_FILENO)
        guard code != 0, code != EPIPE else { return }
        failed.store(true, ordering: .relaxed)
        let reason = String(cString: strerror(code)).lowercased()
        tell("transfer serve: standard output is incomplete: \(reason)")
    }

    /// - Returns: The `errno` of a write that failed, or 0.
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
