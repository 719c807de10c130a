/// An origin that asked to be left alone.
package struct StoredPause: Sendable {
    package let origin: String
    package let remaining: Duration
    package let status: Int?
    package let message: String

    package init(origin: String, remaining: Duration, status: Int?, message: String) {
        self.origin = origin
        self.remaining = remaining
        self.status = status
        self.message = message
    }

    /// The columns that it's read from.
    package static let columns = "origin, until, due, delay, status, message"
}
