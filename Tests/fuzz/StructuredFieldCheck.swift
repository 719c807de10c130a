import TransferCore

@testable import TransferUpload

/// The check that a parsed field, written by RFC 9651 §4.1, parses as the same value.
enum StructuredFieldCheck {
    static func check(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        if let value = StructuredField.item(text), let written = written(value) {
            try require(StructuredField.item(written) == value, "\(written) is read as another value")
        }
        guard let members = StructuredField.dictionary(text) else { return }
        for (key, value) in members {
            guard let written = written(value) else { continue }
            let again = StructuredField.dictionary("\(key)=\(written)")
            try require(again == [key: value], "\(key)=\(written) is read as another member")
        }
    }

    private static func written(_ value: StructuredField.Value) -> String? {
        switch value {
        case .integer(let number): return "\(number)"
        case .string(let text): return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        case .token(let text): return text
        case .bytes(let bytes): return ":" + Base64.encode(bytes) + ":"
        case .boolean(let flag): return flag ? "?1" : "?0"
        case .date(let seconds): return "@\(seconds)"
        case .displayString(let text):
            let coded = text.utf8.map { byte -> String in
                guard !(0x20...0x7E).contains(byte) || byte == 0x25 || byte == 0x22 else {
                    return String(UnicodeScalar(byte))
                }
                return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return "%\"" + coded.joined() + "\""
        case .decimal, .innerList: return nil
        }
    }
}
