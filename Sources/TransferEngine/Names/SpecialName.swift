import CTransferAres
import TransferCore

/// The hosts whose addresses are known without a look-up.
package enum SpecialName {
    /// Returns the addresses, or `nil` for a name that must be looked up.
    package static func addresses(_ host: String) -> [String]? {
        if isLocalhost(host) { return ["127.0.0.1", "::1"] }
        return literal(host).map { [$0] }
    }

    /// Returns whether the name is `localhost` or below it: these are this machine, regardless of name servers (RFC
    /// 6761 §6.3).
    static func isLocalhost(_ host: String) -> Bool {
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// Returns an address in any spelling that the system accepts: `127.1`, `0x7f000001` and `2130706433` too
    /// (inet(3)).
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
