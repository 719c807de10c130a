public import Foundation

/// One value of JSON, for reading the output of `--json`: `event["bytes"]?.int`.
public enum JSONValue: Sendable, Hashable, Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The types are tried in the order of their frequency, since each failed attempt costs an error.
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if container.decodeNil() {
            self = .null
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }

    public static func parse(_ data: Data) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: data)
    }

    /// Returns the member of an object; `nil` if there is none or this is no object.
    public subscript(_ key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    public subscript(_ index: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }

    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var int: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

/// A decoder of JSON Lines that skips empty lines.
public enum JSONLines {
    public static func values(_ text: String) throws -> [JSONValue] {
        try decode(JSONValue.self, from: text)
    }

    public static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> [Value] {
        let decoder = JSONDecoder()
        return try text.split(separator: "\n").enumerated().map { index, line in
            do {
                return try decoder.decode(type, from: Data(line.utf8))
            } catch {
                throw TestSupportError("line \(index + 1) is no JSON of the form asked for (\(error)): \(line)")
            }
        }
    }
}

extension ProcessResult {
    /// Returns the events that `--json` printed.
    public func events() throws -> [JSONValue] { try JSONLines.values(standardOutput) }
}
