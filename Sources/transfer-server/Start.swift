import ArgumentParser
import Glibc
import TransferQueue
import TransferServer

/// The program that `transfer serve` becomes.
@main
enum Start {
    static func main() async {
        CommandWords.speak()
        signal(SIGPIPE, SIG_IGN)
        // Whoever has the files read again before they were read for the first time needn't end the program.
        if isatty(STDERR_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        // libdispatch asks for threads of higher priority, which only root may have, and tells the system's log.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        raiseLimit()
        do {
            let command = try ServeCommand.parse()
            try await command.run()
            exit(EX_OK)
        } catch let error as TransferError {
            end(error.message, error.code == .invalidRequest ? EX_DATAERR : EX_IOERR)
        } catch let error as ValidationError {
            end(error.message, EX_USAGE)
        } catch {
            ServeCommand.exit(withError: error)
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
    static func tell(_ line: String) { write(line, to: STDERR_FILENO) }

    static func say(_ line: String) { write(line, to: STDOUT_FILENO) }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
