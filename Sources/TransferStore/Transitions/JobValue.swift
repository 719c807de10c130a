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

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var real: Double? { if case .real(let real) = self { real } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    /// Whether the value is a flag that is set.
    var isSet: Bool { self == .flag(true) }

    package init(_ number: Int64?) { self = number.map { .number($0) } ?? .null }
    package init(_ number: Int?) { self = number.map { .number(Int64($0)) } ?? .null }
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    package init(_ end: MonotonicTime?) { self = end.map { .wait($0) } ?? .null }
}
