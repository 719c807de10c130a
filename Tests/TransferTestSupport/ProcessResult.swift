public import Foundation

/// The exit status and the output of a process.
public struct ProcessResult: Sendable, CustomStringConvertible {
    public enum Status: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
    }

    public var status: Status
    public var standardOutputData: Data
    public var standardErrorData: Data
    /// The time from start to end.
    public var duration: Duration
    /// The user and system time.
    public var processorTime: Duration
    /// The largest resident set in bytes; `nil` unless the command requested it.
    public var peakMemory: Int64?

    public var standardOutput: String { String(decoding: standardOutputData, as: UTF8.self) }
    public var standardError: String { String(decoding: standardErrorData, as: UTF8.self) }

    /// The exit status; `nil` if a signal ended the process.
    public var exitCode: Int32? {
        if case .exited(let code) = status { code } else { nil }
    }

    /// The signal that ended the process.
    public var signal: Int32? {
        if case .signalled(let number) = status { number } else { nil }
    }

    public var description: String {
        """
        \(status) after \(duration)
        --- standard output
        \(standardOutput.suffix(4000))
        --- standard error
        \(standardError.suffix(4000))
        """
    }
}
