/// The names and values of a query or a form, in their order of arrival.
struct FormFields: Equatable {
    private(set) var fields: [HeaderFields.Field] = []

    init() {}

    /// Parses `application/x-www-form-urlencoded`; a field without `=` is empty.
    init(_ text: String) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            add(Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
    }

    mutating func add(_ name: String, _ value: String) {
        fields.append(.init(name: name, value: value))
    }

    /// The first value with this name.
    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The fields as JSON: a string for a name that occurs once, and a list otherwise.
    var json: JSONValue {
        .object(
            Dictionary(grouping: fields, by: \.name).mapValues { same in
                same.count == 1 ? .string(same[0].value) : .array(same.map { .string($0.value) })
            })
    }

    /// Decodes percent codes. A percent sign without two digits stands for itself; invalid UTF-8 is replaced.
    static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = true) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = hexDigit(rest.first), let low = hexDigit(rest.dropFirst().first) {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(UnicodeScalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}
