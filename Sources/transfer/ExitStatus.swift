import Glibc

/// How the command ends, as its exit status says (those above 63 are sysexits.h's).
enum ExitStatus: Int32, CaseIterable {
    case complete = 0
    case someFailed = 1
    case wrongUsage = 64
    case invalidJobFile = 65
    case unreadableJobFile = 66
    case stateUnusable = 74
    /// Standard output, that is: as sysexits.h has it, an error of input or output like the one above.
    static let cannotWrite = stateUnusable
    case workLeft = 75

    /// At once: the queue is closed and everything is written. What exit(3) would do besides is the libraries' clean-up
    /// (OpenSSL's, libcurl's), which threads that are just ending would meet half done.
    static func exit(_ status: ExitStatus) -> Never {
        let isWritten = StandardOutput.settle()
        fflush(nil)
        _exit(status == .complete && !isWritten ? cannotWrite.rawValue : status.rawValue)
    }
}

/// An end that is told on standard error.
struct Failure: Error {
    let status: ExitStatus
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    func report() {
        guard !message.isEmpty else { return }
        StandardError.write("transfer: \(message)\n")
    }
}

/// What people read.
enum StandardError {
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
