import TransferCore

/// The directives of Cache-Control (RFC 9111 §5.2). Names are compared without regard to case; arguments are tokens or
/// quoted strings.
///
/// Unreadable text is skipped up to the next comma, as many senders are careless. An invalid number counts as 0, so
/// that a doubtful response is stale (§4.2.1).
struct CacheControl: Sendable, Equatable {
    /// The largest number of seconds that is distinguished, 2³¹ (§1.2.2).
    static let largest: Int64 = 1 << 31

    /// The arguments of each directive in their order, `nil` for a directive without an argument.
    private var directives: [String: [String?]] = [:]

    init(_ fields: [HeaderField]) {
        for field in fields where field.isNamed("Cache-Control") { read(field.value) }
    }

    /// - Parameter value: The value of one field line, or of several joined lines.
    init(_ value: String) { read(value) }

    subscript(_ name: String) -> Bool { directives[name] != nil }

    var isEmpty: Bool { directives.isEmpty }

    /// Whether the directive appears without an argument.
    func isBare(_ name: String) -> Bool { directives[name]?.contains { $0 == nil } ?? false }

    /// Returns the directive's argument in seconds: `nil` without the directive, 0 for an invalid number or for
    /// contradicting arguments (§4.2.1).
    func seconds(_ name: String) -> Int64? {
        guard let arguments = directives[name] else { return nil }
        let numbers = arguments.map { $0.flatMap { Self.seconds($0) } ?? 0 }
        return numbers.allSatisfy { $0 == numbers[0] } ? numbers[0] : 0
    }

    /// Parses delta-seconds (§1.2.2); returns `nil` for anything but digits.
    static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int64(text) ?? largest, largest)
    }

    private mutating func read(_ value: String) {
        var rest = Substring(value).utf8
        while !rest.isEmpty {
            rest = rest.drop { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
            let name = rest.prefix { !Self.endsName($0) }
            rest = rest[name.endIndex...].drop { Self.isSpace($0) }
            var argument: String?
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst().drop { Self.isSpace($0) }
                argument = Self.argument(&rest)
            }
            if !name.isEmpty { directives[String(Substring(name)).lowercased(), default: []].append(argument) }
            // Parameters as in RFC 8941, or garbage, are skipped.
            rest = rest.drop { $0 != UInt8(ascii: ",") }
        }
    }

    private static func argument(_ rest: inout Substring.UTF8View) -> String {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { !endsArgument($0) }
            rest = rest[token.endIndex...]
            return String(Substring(token))
        }
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    private static func endsName(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "=") || endsArgument(byte) }
    private static func endsArgument(_ byte: UInt8) -> Bool {
        isSpace(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";")
    }
}

extension Array where Element == HeaderField {
    /// Returns the values of all lines with that name, in order.
    func values(_ name: String) -> [String] { filter { $0.isNamed(name) }.map(\.value) }

    /// Returns the members of a list field (RFC 9110 §5.6.1) whose members are tokens, in lower case.
    func tokens(_ name: String) -> [String] {
        values(name).flatMap { value in
            value.split(separator: ",").compactMap { member in
                let token = member.trimmingSpace
                return token.isEmpty ? nil : token.lowercased()
            }
        }
    }
}

extension Substring {
    fileprivate var trimmingSpace: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
