/// A secret that clients send. Neither its description nor an error contains it.
public struct ServerSecret: Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// Creates a secret.
    ///
    /// - Parameter text: At least eight characters that can be in a header field (RFC 6750 §2.1).
    /// - Returns: `nil` for other texts.
    public init?(_ text: String) {
        guard text.utf8.count >= 8, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        bytes = Array(text.utf8)
    }

    /// Compares the secret with a text in a time that does not reveal how much of the text is right.
    func matches(_ text: some StringProtocol) -> Bool {
        var difference: UInt8 = text.utf8.count == bytes.count ? 0 : 1
        var index = 0
        for byte in text.utf8 {
            difference |= byte ^ bytes[index]
            index = index + 1 == bytes.count ? 0 : index + 1
        }
        return difference == 0
    }

    /// Returns whether another secret has the same value.
    func isSame(as other: ServerSecret) -> Bool { matches(String(decoding: other.bytes, as: UTF8.self)) }

    /// Three asterisks, whatever the secret is.
    public var description: String { "***" }
}
