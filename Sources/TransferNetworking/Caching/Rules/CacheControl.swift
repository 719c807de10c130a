import TransferCore

/// The directives of Cache-Control (RFC 9111 §5.2): names without regard to case, arguments as tokens or quoted.
///
/// What can't be read is skipped up to the next comma, as senders in the wild are careless; a number that is no number
/// counts as 0, so that a doubtful answer is stale (§4.2.1).
struct CacheControl: Sendable, Equatable {
    /// 2³¹: the largest number of seconds that is told apart (§1.2.2).
    static let largest: Int64 = 1 << 31

    /// Arguments in their order, `nil` for a directive without one.
    private var directives: [String: [String?]] = [:]

    init(_ fields: [HeaderField]) {
        for field in fields where field.isNamed("Cache-Control") { read(field.value) }
    }

    /// - Parameter value: Of one or of several joined field lines.
    init(_ value: String) { read(value) }

    subscript(_ name: String) -> Bool { directives[name] != nil }

    var isEmpty: Bool { directives.isEmpty }

    /// Whether the directive is there without an argument.
    func isBare(_ name: String) -> Bool { directives[name]?.contains { $0 == nil } ?? false }

    /// Seconds; `nil` without the directive, 0 where it isn't a number, or where two of them differ (§4.2.1).
    func seconds(_ name: String) -> Int64? {
        guard let arguments = directives[name] else { return nil }
        let numbers = arguments.map { $0.flatMap { Self.seconds($0) } ?? 0 }
        return numbers.allSatisfy { $0 == numbers[0] } ? numbers[0] : 0
    }

    /// The delta-seconds of §1.2.2; `nil` for anything but digits.
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
            // Parameters as in RFC 8941, or garbage.
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
    /// The values of every line of that name, in order.
    func values(_ name: String) -> [String] { filter { $0.isNamed(name) }.map(\.value) }

    /// The members of a list field (RFC 9110 §5.6.1) whose members are tokens, in lower case.
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
