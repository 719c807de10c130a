/// The names and passwords for machines in a `.netrc` file (netrc(5); quotation marks as in curl 7.84).
///
/// ```
/// machine data.example login ada password pw
/// machine data.example login bob password "with a blank"
/// default login anonymous password me@here
/// ```
public struct Netrc: Sendable, Hashable {
    /// The login for a machine.
    public struct Entry: Sendable, Hashable {
        /// The machine's name as written; `nil` for `default`, which applies to all machines without an entry.
        public var machine: String?
        /// The user's name; `nil` where the entry names none and applies to any user.
        public var login: String?
        /// The password.
        public var password: String

        /// Creates an entry; `machine` is `nil` for `default`.
        public init(machine: String?, login: String?, password: String) {
            self.machine = machine
            self.login = login
            self.password = password
        }
    }

    /// The entries in the order of the file.
    public private(set) var entries: [Entry] = []

    /// Parses a `.netrc` file; unknown tokens are ignored.
    public init(_ text: String) {
        var tokens = Tokens(text)
        while let token = tokens.next() {
            switch token {
            case "machine": entries.append(Entry(machine: tokens.next() ?? "", login: nil, password: ""))
            case "default": entries.append(Entry(machine: nil, login: nil, password: ""))
            case "macdef": tokens.skipMacro()
            case "login":
                let login = tokens.next()
                if !entries.isEmpty { entries[entries.count - 1].login = login }
            case "password":
                let password = tokens.next() ?? ""
                if !entries.isEmpty { entries[entries.count - 1].password = password }
            case "account": _ = tokens.next()
            default: break
            }
        }
    }

    /// Creates a value without entries.
    public init() {}

    /// Returns the entry that names the machine.
    ///
    /// - Parameters:
    ///   - host: The machine's name, without brackets around an IPv6 address.
    ///   - user: The user's name, which selects one of several entries; `nil` selects the first.
    public func entry(of host: String, user: String? = nil) -> Entry? {
        entries.first { $0.names(host) && $0.isFor(user) }
    }

    /// Returns the entry that names the machine, or else the one for all machines.
    public func entryOrDefault(of host: String, user: String? = nil) -> Entry? {
        entry(of: host, user: user) ?? entries.first { $0.machine == nil && $0.isFor(user) }
    }
}

extension Netrc.Entry {
    fileprivate func names(_ host: String) -> Bool {
        guard var name = machine else { return false }
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        return HostName.comparable(name) == HostName.comparable(host)
    }

    fileprivate func isFor(_ user: String?) -> Bool { user == nil || login == nil || login == user }
}

extension Netrc: CustomStringConvertible {
    /// The number of entries, without any password.
    public var description: String { "\(CountText.words(entries.count, "entry", plural: "entries")) of .netrc" }
}

/// The use of a `.netrc` entry for a machine to which a redirect led.
public struct NetrcUse: Sendable, Hashable {
    /// The machine's name in the file.
    public var machine: String
    /// The URL that was requested with the entry's login, without secrets.
    public var url: String

    /// Creates a value; the URL must be without secrets.
    public init(machine: String, url: String) {
        self.machine = machine
        self.url = url
    }
}

/// The tokens of the file, in their order.
private struct Tokens {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() -> String? {
        skipBlanks()
        guard position < bytes.count else { return nil }
        if bytes[position] == UInt8(ascii: "\"") { return quoted() }
        let start = position
        while position < bytes.count, !Self.isBlank(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Skips a macro, which has a name and ends with an empty line or the end of the file.
    mutating func skipMacro() {
        while position < bytes.count {
            if bytes[position...].starts(with: [0x0A, 0x0A]) || bytes[position...].starts(with: [0x0A, 0x0D, 0x0A]) {
                return
            }
            position += 1
        }
    }

    private mutating func quoted() -> String {
        var text: [UInt8] = []
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            var byte = bytes[position]
            if byte == UInt8(ascii: "\\"), position + 1 < bytes.count {
                position += 1
                byte = Self.escapes[bytes[position]] ?? bytes[position]
            }
            text.append(byte)
            position += 1
        }
        position += 1
        return String(decoding: text, as: UTF8.self)
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]

    /// Skips blanks and comments. A comment is a line whose first word begins with `#`; passwords may contain that
    /// character.
    private mutating func skipBlanks() {
        var isLineStart = position == 0
        while position < bytes.count {
            if Self.isBlank(bytes[position]) {
                isLineStart = isLineStart || bytes[position] == 0x0A
                position += 1
            } else if isLineStart, bytes[position] == UInt8(ascii: "#") {
                while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            } else {
                return
            }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
