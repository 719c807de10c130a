import Glibc
import TransferTestServer

/// The server of the files named in `jobs/demo.json`. It prints its port on one line, and ends at SIGTERM, SIGINT or
/// the end of its standard input. A client reaches the demonstration's host names with
/// `http_proxy=http://127.0.0.1:PORT`.
@main
enum DemoServer {
    static func main() {
        // The signals are blocked before the first thread starts, so that all threads inherit the mask and only sigwait
        // receives them.
        var endings = sigset_t()
        sigemptyset(&endings)
        sigaddset(&endings, SIGTERM)
        sigaddset(&endings, SIGINT)
        pthread_sigmask(SIG_BLOCK, &endings, nil)

        do {
            let server = try TestServer()
            DemoResources.install(on: server)
            try writePort(server.port)
            if inputIsSomeonesEnd { endWithInput() }
            var received: Int32 = 0
            sigwait(&endings, &received)
            server.stop()
        } catch {
            let message = "transfer-demo-server: \(error)\n"
            _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            exit(1)
        }
    }

    private struct OutputClosed: Error, CustomStringConvertible {
        let description = "cannot write the port to standard output"
    }

    private static func writePort(_ port: UInt16) throws {
        let line = "\(port)\n"
        guard line.withCString({ write(STDOUT_FILENO, $0, strlen($0)) }) == line.utf8.count else {
            throw OutputClosed()
        }
    }

    /// Whether the end of standard input means that the starting process has ended. A shell gives its background jobs
    /// /dev/null, which ends at once and means nothing.
    private static var inputIsSomeonesEnd: Bool {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFCHR || isatty(STDIN_FILENO) == 1
    }

    private static func endWithInput() {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { _ in
                var scrap = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(STDIN_FILENO, &scrap, scrap.count)
                    guard count > 0 || (count < 0 && errno == EINTR) else { break }
                }
                kill(getpid(), SIGTERM)
                return nil
            }, nil)
    }
}
