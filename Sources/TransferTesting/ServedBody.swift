import TransferTestServer

/// The content of a served file.
public struct ServedBody: Sendable, Equatable {
    let content: Content

    /// Returns a body with these bytes.
    public static func bytes(_ bytes: [UInt8]) -> ServedBody { ServedBody(content: .bytes(bytes)) }

    /// Returns a body with a text in UTF-8.
    public static func text(_ text: String) -> ServedBody { ServedBody(content: .text(text)) }

    /// Returns a body of pseudorandom bytes. They are generated while they are sent, so that a file of many gigabytes
    /// takes no memory.
    ///
    /// - Parameters:
    ///   - seed: The seed; equal seeds yield equal bytes, in each process.
    ///   - count: The number of bytes. A shorter body has the first bytes of a longer one.
    public static func random(seed: UInt64 = 1, count: Int64) -> ServedBody {
        ServedBody(content: .random(seed: seed, count: count))
    }

    /// The number of bytes.
    public var count: Int64 { content.count }

    /// Returns the bytes of a range, in memory; all of them for `nil`.
    public func bytes(in range: Range<Int64>? = nil) -> [UInt8] { content.bytes(in: range) }

    /// Returns the offset of the first byte at which a file differs from the body; `nil` when the file has exactly the
    /// same bytes.
    ///
    /// - Throws: An error with the reason when the file cannot be read.
    public func firstDifference(fromFileAt path: String) throws -> Int64? {
        try content.firstDifference(fromFileAt: path)
    }
}
