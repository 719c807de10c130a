import Glibc
import TransferCore

/// The exit statuses of the command (those above 63 are sysexits.h's).
enum ExitStatus: Int32, CaseIterable {
    case complete = 0
    case someFailed = 1
    case wrongUsage = 64
    case invalidJobFile = 65
    case unreadableJobFile = 66
    case stateUnusable = 74
    /// Standard output cannot be written: sysexits.h has the same number for all errors of input or output.
    static let cannotWrite = stateUnusable
    case workLeft = 75
    /// The queue's database refuses the process until a person acts (EX_CONFIG of sysexits.h). The units do not start the
    /// process again.
    case databaseRefused = 78

    /// Returns the status of an error that no command has handled.
    static func of(_ error: TransferError) -> ExitStatus {
        switch error.code {
        case .databaseRefused where !error.isTransient, .rightMissing where !error.isTransient: .databaseRefused
        default: .stateUnusable
        }
    }

    /// Ends the process at once: the queue is closed and all output is written.
    ///
    /// exit(3) would only add the libraries' clean-up (OpenSSL's, libcurl's), which ending threads would meet half
    /// done.
    static func exit(_ status: ExitStatus) -> Never {
        let isWritten = StandardOutput.settle()
        fflush(nil)
        _exit(status == .complete && !isWritten ? cannotWrite.rawValue : status.rawValue)
    }
}

/// A failure that ends the command with a message on standard error.
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

/// The output for people.
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
