/// A field of an HTTP message: a name, compared without regard to case, and its value (RFC 9110 §5).
public struct HeaderField: Sendable, Hashable, Codable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Returns whether this is the field's name, without regard to case.
    public func isNamed(_ other: some StringProtocol) -> Bool { name.asciiCaseInsensitiveEquals(other) }
}

extension Array where Element == HeaderField {
    /// Returns the first value with this name.
    public func value(_ name: String) -> String? { first { $0.isNamed(name) }?.value }

    /// Replaces all fields with this name by one, or adds one at the end.
    public mutating func set(_ name: String, _ value: String) {
        removeAll { $0.isNamed(name) }
        append(HeaderField(name, value))
    }
}

extension StringProtocol {
    /// Returns whether two texts are equal apart from the case of ASCII letters, the comparison for HTTP's field names
    /// and tokens.
    public func asciiCaseInsensitiveEquals(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    /// The byte, with an ASCII upper-case letter replaced by its lower-case form.
    @inlinable
    public var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
