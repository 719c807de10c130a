package import TransferCore

/// An origin that jobs wait for, as its gate has it.
package struct OriginWait: Sendable, Hashable {
    package var origin: String
    /// `nil` while a job tries.
    package var until: MonotonicTime?
    package var status: Int?
    package var message: String
}
