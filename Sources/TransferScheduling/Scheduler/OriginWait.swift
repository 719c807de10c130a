import TransferCore

/// An origin that jobs wait for, as its gate has it.
struct OriginWait: Sendable, Hashable {
    var origin: String
    /// `nil` while a job tries.
    var until: MonotonicTime?
    var status: Int?
    var message: String
}
