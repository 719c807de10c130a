import TransferTestServer

/// The bytes of what a server has.
public struct ServedBody: Sendable, Equatable {
    let content: Content

    /// These bytes.
    public static func bytes(_ bytes: [UInt8]) -> ServedBody { ServedBody(content: .bytes(bytes)) }

    /// A text in UTF-8.
    public static func text(_ text: String) -> ServedBody { ServedBody(content: .text(text)) }

    /// Bytes that look random and are made as they are sent: a file of many gigabytes takes no memory.
    ///
    /// - Parameters:
    ///   - seed: The same seed gives the same bytes, in each process.
    ///   - count: How many; the first ones don't depend on it.
    public static func random(seed: UInt64 = 1, count: Int64) -> ServedBody {
        ServedBody(content: .random(seed: seed, count: count))
    }

    /// How many bytes there are.
    public var count: Int64 { content.count }

    /// The bytes of a range, in memory; all of them for `nil`.
    public func bytes(in range: Range<Int64>? = nil) -> [UInt8] { content.bytes(in: range) }

    /// Where a file begins to differ from it; `nil` when it has the same bytes and no more.
    ///
    /// - Throws: When the file can't be read; the error says why.
    public func firstDifference(fromFileAt path: String) throws -> Int64? {
        try content.firstDifference(fromFileAt: path)
    }
}
