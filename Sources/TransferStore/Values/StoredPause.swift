/// An origin that asked to be left alone.
package struct StoredPause: Sendable {
    package let origin: String
    package let remaining: Duration
    package let status: Int?
    package let message: String
    /// The proxy that asked for the pause, in place of the origin behind it.
    package let proxy: String?

    package init(origin: String, remaining: Duration, status: Int?, message: String, proxy: String? = nil) {
        self.origin = origin
        self.remaining = remaining
        self.status = status
        self.message = message
        self.proxy = proxy
    }

    /// The columns that a pause is read from.
    package static let columns = "origin, until, due, delay, status, message, proxy"
}
