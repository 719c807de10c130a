package import TransferCore

/// An origin that jobs wait for, as its gate has it.
package struct OriginWait: Sendable, Hashable {
    package var origin: String
    /// `nil` while a job tries.
    package var until: MonotonicTime?
    package var status: Int?
    package var message: String
    /// The proxy that is to blame, in place of the origin behind it.
    package var proxy: String?

    /// - Parameter error: Why they wait.
    init(origin: String, until: MonotonicTime? = nil, _ error: TransferError) {
        (self.origin, self.until) = (origin, until)
        (status, message, proxy) = (error.serverStatus, error.message, error.proxy)
    }
}
