import Glibc

/// The error of a failed system call, or of a wait that timed out.
public struct TestServerError: Error, CustomStringConvertible {
    /// The operation and the reason, or the state at the timeout.
    public let description: String

    init(_ operation: String) {
        description = "\(operation): \(String(cString: strerror(errno)))"
    }

    init(timeout: Duration, waitingFor what: String, seen: String) {
        description = "waited \(timeout) for \(what); seen: \(seen)"
    }
}

/// The error that unwinds the connection's thread when the client has disconnected or the server stops.
struct ConnectionEnded: Error {}
