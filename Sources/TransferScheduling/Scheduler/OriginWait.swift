package import TransferCore

/// An origin that jobs wait for, according to its gate.
package struct OriginWait: Sendable, Hashable {
    package var origin: String
    /// The end of the pause; `nil` while a job probes.
    package var until: MonotonicTime?
    package var status: Int?
    package var message: String
    /// The proxy that is to blame, instead of the origin behind it.
    package var proxy: String?

    /// Creates a wait.
    ///
    /// - Parameter error: The reason of the wait.
    init(origin: String, until: MonotonicTime? = nil, _ error: TransferError) {
        (self.origin, self.until) = (origin, until)
        (status, message, proxy) = (error.serverStatus, error.message, error.proxy)
    }
}
