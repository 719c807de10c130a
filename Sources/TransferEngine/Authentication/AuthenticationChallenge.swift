public import TransferCore

/// One challenge of a WWW-Authenticate field (RFC 9110 §11.3): a scheme, and a token or parameters.
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The name of the scheme, in lower case.
    public let scheme: String
    /// The token68 of the challenge, as Negotiate and NTLM carry it.
    public let token: String?
    /// The parameters, by their names in lower case.
    public let parameters: [String: String]

    /// The realm of the protection space, where the challenge names one.
    public var realm: String? { parameters["realm"] }

    /// Returns all challenges of an answer in their order. Unreadable challenges are left out.
    public static func all(in head: ResponseHead) -> [AuthenticationChallenge] {
        head.fields.filter { $0.isNamed("WWW-Authenticate") }.flatMap { parse($0.value) }
    }

    /// Parses the value of one WWW-Authenticate field.
    ///
    /// Commas separate challenges as well as their parameters: a word that no `=` follows begins a challenge.
    public static func parse(_ value: String) -> [AuthenticationChallenge] {
        var reader = ChallengeReader(rest: Array(value.utf8)[...])
        return reader.readAll()
    }

    init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token = token
        self.parameters = parameters
    }
}

/// A reader that works on bytes, so that a comma within quotes separates nothing.
private struct ChallengeReader {
    var rest: ArraySlice<UInt8>

    mutating func readAll() -> [AuthenticationChallenge] {
        var result: [AuthenticationChallenge] = []
        while true {
            skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
            guard let scheme = readToken() else { break }
            skip(Self.isSpace)
            let (token, parameters) = readContent()
            result.append(
                AuthenticationChallenge(
                    scheme: String(decoding: scheme, as: UTF8.self).lowercased(), token: token, parameters: parameters))
        }
        return result
    }

    private mutating func readContent() -> (String?, [String: String]) {
        if let token = readToken68() { return (token, [:]) }
        var parameters: [String: String] = [:]
        while let (name, value) = readParameter() {
            // The first parameter of a name counts: a second one cannot take its place.
            if parameters[name] == nil { parameters[name] = value }
            skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
        }
        return (nil, parameters)
    }

    /// Reads a token68 if only a comma or the end follows it. Otherwise the letters are a parameter or the next scheme.
    private mutating func readToken68() -> String? {
        let letters = rest.prefix { Self.isToken68($0) }
        guard !letters.isEmpty else { return nil }
        let padding = rest[letters.endIndex...].prefix { $0 == UInt8(ascii: "=") }
        let after = rest[padding.endIndex...].drop(while: Self.isSpace)
        guard after.isEmpty || after.first == UInt8(ascii: ",") else { return nil }
        let text = String(decoding: rest[letters.startIndex..<padding.endIndex], as: UTF8.self)
        rest = after
        return text
    }

    private mutating func readParameter() -> (String, String)? {
        let saved = rest
        guard let name = readToken() else { return nil }
        skip(Self.isSpace)
        guard rest.first == UInt8(ascii: "=") else {
            rest = saved
            return nil
        }
        rest = rest.dropFirst()
        skip(Self.isSpace)
        let value = rest.first == UInt8(ascii: "\"") ? readQuoted() : Array(readToken() ?? [])
        return (String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
    }

    private mutating func readQuoted() -> [UInt8] {
        var value: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                value.append(escaped)
            } else {
                value.append(byte)
            }
        }
        return value
    }

    private mutating func readToken() -> ArraySlice<UInt8>? {
        let token = rest.prefix { !Self.isSpace($0) && !Self.separators.contains($0) }
        guard !token.isEmpty else {
            // An unexpected byte is skipped, so that the reader always advances.
            if let first = rest.first, first != UInt8(ascii: ",") { rest = rest.dropFirst() }
            return nil
        }
        rest = rest[token.endIndex...]
        return token
    }

    private mutating func skip(_ condition: (UInt8) -> Bool) { rest = rest.drop(while: condition) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isToken68(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~+/".utf8.contains(byte)
        }
    }

    private static let separators = Array(",=\"".utf8)
}
