/// Header fields in their order of transmission; the comparison of names ignores case (RFC 9110, section 5.1).
public struct HeaderFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A header field.
    public struct Field: Sendable, Equatable {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String
    }

    /// The fields, in their order.
    public private(set) var fields: [Field] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates fields from names and values, in their order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value with this name. Setting replaces all fields with this name, and `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.matches($0.name, name) }?.value }
        set {
            guard let newValue else { return fields.removeAll { Self.matches($0.name, name) } }
            if let first = fields.firstIndex(where: { Self.matches($0.name, name) }) {
                fields[first].value = newValue
                var seen = false
                fields.removeAll {
                    guard Self.matches($0.name, name) else { return false }
                    defer { seen = true }
                    return seen
                }
            } else {
                fields.append(Field(name: name, value: newValue))
            }
        }
    }

    /// Adds a field at the end.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Returns the values of all fields with this name, in their order.
    public func all(_ name: String) -> [String] {
        fields.filter { Self.matches($0.name, name) }.map(\.value)
    }

    /// Returns the fields with those of `other` replacing the ones with the same name.
    public func overridden(by other: HeaderFields) -> HeaderFields {
        var merged = self
        for field in other.fields { merged[field.name] = nil }
        merged.fields += other.fields
        return merged
    }

    func listContains(_ name: String, token: String) -> Bool {
        all(name).contains { value in
            value.split(separator: ",").contains { Self.matches($0.trimmingSpaces, token) }
        }
    }

    private static func matches(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
        one.utf8.count == other.utf8.count && one.lowercased() == other.lowercased()
    }
}

extension StringProtocol {
    var trimmingSpaces: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
