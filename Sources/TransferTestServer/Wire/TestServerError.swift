import Glibc

/// A system call of the server failed, or what a test waited for did not happen in time.
public struct TestServerError: Error, CustomStringConvertible {
    public let description: String

    init(_ operation: String) {
        description = "\(operation): \(String(cString: strerror(errno)))"
    }

    init(timeout: Duration, waitingFor what: String, seen: String) {
        description = "waited \(timeout) for \(what); seen: \(seen)"
    }
}

/// The client is gone, or the server stops: the connection's thread unwinds.
struct ConnectionEnded: Error {}
