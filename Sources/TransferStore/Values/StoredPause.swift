/// An origin that asked to be left alone.
struct StoredPause: Sendable {
    let origin: String
    let remaining: Duration
    let status: Int?
    let message: String

    /// The columns that it's read from.
    static let columns = "origin, until, due, delay, status, message"
}
