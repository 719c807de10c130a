/// A JSON value (RFC 8259). Numbers stay as written, so that none loses digits.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The text with sorted keys, two spaces a level and a newline at the end, in the style of Flask.
    var indented: String {
        var text = ""
        write(to: &text, indent: 0)
        return text + "\n"
    }

    /// The text on one line.
    var line: String {
        var text = ""
        write(to: &text, indent: nil)
        return text
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            Self.write(values, between: "[", "]", to: &text, indent) { value, text, indent in
                value.write(to: &text, indent: indent)
            }
        case .object(let members):
            Self.write(members.sorted { $0.key < $1.key }, between: "{", "}", to: &text, indent) {
                member, text, indent in
                Self.write(member.key, to: &text)
                text += ": "
                member.value.write(to: &text, indent: indent)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], between open: String, _ close: String, to text: inout String, _ indent: Int?,
        _ writeItem: (Item, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indent.map { $0 + 1 }
        for (index, item) in items.enumerated() {
            if index > 0 { text += indent == nil ? ", " : "," }
            if let inner { text += "\n" + String(repeating: "  ", count: inner) }
            writeItem(item, &text, inner)
        }
        if let indent, !items.isEmpty { text += "\n" + String(repeating: "  ", count: indent) }
        text += close
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for unit in string.utf16 {
            switch unit {
            case 0x22: text += "\\\""
            case 0x5C: text += "\\\\"
            case 0x0A: text += "\\n"
            case 0x0D: text += "\\r"
            case 0x09: text += "\\t"
            case 0x08: text += "\\b"
            case 0x0C: text += "\\f"
            case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        text += "\""
    }
}
