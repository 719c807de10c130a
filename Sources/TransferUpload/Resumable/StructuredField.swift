import FoundationEssentials
import RawStructuredFieldValues

/// Structured fields (RFC 9651), parsed as strictly as §4.2 demands: a malformed field has no value at all.
///
/// Parameters are checked and dropped, as none of the fields here defines any.
enum StructuredField {
    enum Value: Sendable, Hashable {
        case integer(Int64)
        case decimal
        case string(String)
        case token(String)
        case bytes([UInt8])
        case boolean(Bool)
        case date(Int64)
        case displayString(String)
        case innerList

        /// Creates a value of a parsed item; `nil` where its bytes are no Base64.
        fileprivate init?(_ item: RFC9651BareItem) {
            switch item {
            case .bool(let flag): self = .boolean(flag)
            case .integer(let number): self = .integer(number)
            case .decimal: self = .decimal
            case .string(let text): self = .string(text)
            case .token(let text): self = .token(text)
            case .date(let seconds): self = .date(seconds)
            case .displayString(let text): self = .displayString(text)
            case .undecodedByteSequence(var base64):
                // §4.2.7: missing padding is no reason to fail.
                if !base64.hasSuffix("=") { base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4) }
                guard let data = Data(base64Encoded: base64) else { return nil }
                self = .bytes(Array(data))
            }
        }
    }

    /// Parses an Item (§4.2.3), whose lines were joined by RFC 9110 §5.2.
    static func item(_ text: String) -> Value? {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let item = try? parser.parseItemFieldValue() else { return nil }
        return Value(item.rfc9651BareItem)
    }

    /// Parses a Dictionary (§4.2.2); of members with the same key the last counts.
    static func dictionary(_ text: String) -> [String: Value]? {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let parsed = try? parser.parseDictionaryFieldValue() else { return nil }
        var members: [String: Value] = [:]
        for (key, member) in parsed {
            switch member {
            case .innerList: members[key] = .innerList
            case .item(let item):
                guard let value = Value(item.rfc9651BareItem) else { return nil }
                members[key] = value
            }
        }
        return members
    }
}
