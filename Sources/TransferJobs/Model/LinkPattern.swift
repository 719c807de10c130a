import Glibc

/// What a link of this machine is, in the words of job files and of the kernel's messages.
public enum LinkClass: String, Sendable, Hashable, CaseIterable, Codable {
    case ethernet, wifi, cellular, ppp, tunnel, wireguard, bridge, bond, vlan, macvlan, veth
    case dummy, loopback, other

    /// Those that a rule can name: the others lead nowhere, or say nothing.
    package static let words = allCases.filter { $0 != .dummy && $0 != .loopback && $0 != .other }
}

/// Which links a rule is about.
public enum LinkPattern: Sendable, Hashable {
    case kind(LinkClass)
    /// Tunnels, WireGuard among them.
    case vpn
    /// An interface, with the wildcards `*`, `?` and `[…]` of fnmatch(3).
    case name(String)

    /// As in a job file: a kind (`wifi`), `vpn`, or an interface (`eth0`, `wwan*`; `name:` before one that is called as
    /// a kind could be).
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

    /// What `init(_:)` reads.
    public var text: String {
        switch self {
        case .kind(let kind): kind.rawValue
        case .vpn: "vpn"
        case .name(let name): Self.isWord(name) || LinkPattern(name) != self ? Self.mark + name : name
        }
    }

    package static let mark = "name:"

    /// Whether a text can't be told from a misspelt kind.
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

    /// The one interface that it stands for, if there can be no other.
    package var exactName: String? {
        guard case .name(let name) = self, !name.contains(where: { "*?[\\".contains($0) }) else { return nil }
        return name
    }
}

extension LinkPattern: CustomStringConvertible {
    /// For a sentence.
    public var description: String {
        if case .name(let name) = self { name } else { text }
    }
}

extension LinkPattern: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
