import Glibc

/// The kind of a link of this machine, with the names of job files and of the kernel's messages.
public enum LinkClass: String, Sendable, Hashable, CaseIterable, Codable {
    case ethernet, wifi, cellular, ppp, tunnel, wireguard, bridge, bond, vlan, macvlan, veth
    case dummy, loopback, other

    /// The kinds that a rule can name; other links carry no traffic, or have no specific kind.
    package static let words = allCases.filter { $0 != .dummy && $0 != .loopback && $0 != .other }
}

/// A pattern for the links to which a rule applies.
public enum LinkPattern: Sendable, Hashable {
    case kind(LinkClass)
    /// All tunnels, including WireGuard.
    case vpn
    /// An interface, with the wildcards `*`, `?` and `[…]` of fnmatch(3).
    case name(String)

    /// Creates a pattern from the text of a job file: a kind (`wifi`), `vpn`, or an interface (`eth0`, `wwan*`). An
    /// interface whose name could be a kind has `name:` before it.
    public init(_ text: String) {
        let mark = Self.mark
        if text == "vpn" {
            self = .vpn
        } else if let kind = LinkClass.words.first(where: { $0.rawValue == text }) {
            self = .kind(kind)
        } else {
            self = .name(text.hasPrefix(mark) ? String(text.dropFirst(mark.count)) : text)
        }
    }

    /// The text that `init(_:)` reads.
    public var text: String {
        switch self {
        case .kind(let kind): kind.rawValue
        case .vpn: "vpn"
        case .name(let name): Self.isWord(name) || LinkPattern(name) != self ? Self.mark + name : name
        }
    }

    package static let mark = "name:"

    /// Returns whether a text could be a misspelt kind.
    package static func isWord(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
    }

    package func matches(name: String, kind: LinkClass) -> Bool {
        switch self {
        case .kind(let wanted): kind == wanted
        case .vpn: kind == .tunnel || kind == .wireguard
        case .name(let pattern): pattern == name || fnmatch(pattern, name, 0) == 0
        }
    }

    /// The only interface that can match; `nil` where several can.
    package var exactName: String? {
        guard case .name(let name) = self, !name.contains(where: { "*?[\\".contains($0) }) else { return nil }
        return name
    }
}

extension LinkPattern: CustomStringConvertible {
    /// The pattern as it appears in a sentence.
    public var description: String {
        if case .name(let name) = self { name } else { text }
    }
}

extension LinkPattern: Codable {
    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
