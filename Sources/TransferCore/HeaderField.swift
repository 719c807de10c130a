/// One field of an HTTP message: a name, compared without regard to case, and its value (RFC 9110 §5).
public struct HeaderField: Sendable, Hashable, Codable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    public func isNamed(_ other: some StringProtocol) -> Bool { name.asciiCaseInsensitiveEquals(other) }
}

extension Array where Element == HeaderField {
    /// The first value of that name.
    public func value(_ name: String) -> String? { first { $0.isNamed(name) }?.value }

    /// Replaces every field of that name by one, or adds it at the end.
    public mutating func set(_ name: String, _ value: String) {
        removeAll { $0.isNamed(name) }
        append(HeaderField(name, value))
    }
}

extension StringProtocol {
    /// Equality that ignores the case of ASCII letters only, as HTTP's field names and tokens are compared.
    public func asciiCaseInsensitiveEquals(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    @inlinable
    public var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
