package import TransferCore

/// A value of a column of a job or of the upload history.
package enum JobValue: Sendable, Hashable {
    case null
    case number(Int64)
    case flag(Bool)
    case real(Double)
    case text(String)
    case bytes([UInt8])
    /// The end of a wait.
    case wait(MonotonicTime)

    package init(_ number: Int64?) { self = number.map { .number($0) } ?? .null }
    package init(_ number: Int?) { self = number.map { .number(Int64($0)) } ?? .null }
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    package init(_ end: MonotonicTime?) { self = end.map { .wait($0) } ?? .null }
}
