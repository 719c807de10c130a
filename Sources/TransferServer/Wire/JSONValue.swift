import TransferCore
import TransferQueue

/// A JSON value of a request, parsed strictly (RFC 8259): without repeated keys, and with limited nesting.
enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// A number, as written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses a value.
    ///
    /// - Throws: `JSONFault` for bytes that are not JSON.
    init(_ bytes: [UInt8]) throws(JSONFault) {
        let result: Result<JSONValue, JSONFault> = bytes.withUnsafeBufferPointer { buffer in
            var reader = JSONReader(buffer)
            do throws(JSONFault) {
                let value = try Self.read(&reader)
                try reader.expectEnd()
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    private static func read(_ reader: inout JSONReader) throws(JSONFault) -> JSONValue {
        switch try reader.kind() {
        case .null:
            try reader.null()
            return .null
        case .boolean: return .boolean(try reader.boolean())
        case .number:
            let number = try reader.number()
            return .number(String(decoding: reader.bytes[number.range], as: UTF8.self))
        case .string:
            let text = try reader.string()
            return .string(reader.string(text))
        case .array:
            try reader.beginArray()
            var isFirst = true
            var values: [JSONValue] = []
            while try reader.element(isFirst: &isFirst) { values.append(try read(&reader)) }
            return .array(values)
        case .object:
            try reader.beginObject()
            var isFirst = true
            var members: [String: JSONValue] = [:]
            while let key = try reader.key(isFirst: &isFirst) {
                let name = reader.string(key)
                guard members[name] == nil else { throw JSONReader.duplicate(name, key) }
                members[name] = try read(&reader)
            }
            return .object(members)
        }
    }

    subscript(_ key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of an option: a text, or the text of a number or a truth value.
    var optionText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .boolean(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var members: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    var isTrue: Bool { self == .boolean(true) }

    /// The value as an integer; `nil` for other values.
    var integer: Int? {
        guard case .number(let text) = self else { return nil }
        return Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
    }
}

extension JSONValue: JSONWritable {
    func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.raw("null")
        case .boolean(let value): writer.boolean(value)
        case .number(let text): writer.raw(text)
        case .string(let text): writer.string(text)
        case .array(let values): writer.array(values) { $1.write(to: &$0) }
        case .object(let members):
            writer.object { writer in
                for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                    writer.key(key)
                    value.write(to: &writer)
                }
            }
        }
    }
}
