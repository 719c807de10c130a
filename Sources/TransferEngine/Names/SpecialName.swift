import CTransferAres
import TransferCore

/// Hosts whose addresses are known without asking anybody.
enum SpecialName {
    /// The addresses, or `nil` for a name that has to be looked up.
    static func addresses(_ host: String) -> [String]? {
        if isLocalhost(host) { return ["127.0.0.1", "::1"] }
        return literal(host).map { [$0] }
    }

    /// `localhost` and all below it are this machine, whatever a name server says (RFC 6761 §6.3).
    static func isLocalhost(_ host: String) -> Bool {
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// An address in any spelling that the system reads as one: `127.1`, `0x7f000001` and `2130706433` too (inet(3)).
    static func literal(_ host: String) -> String? {
        if IPAddress(host) != nil { return host }
        var bytes = [UInt8](repeating: 0, count: 4)
        guard host.utf8.first.map({ (0x30...0x39).contains($0) }) == true, transfer_read_address(host, &bytes) != 0
        else {
            return nil
        }
        return bytes.map { String($0) }.joined(separator: ".")
    }
}
