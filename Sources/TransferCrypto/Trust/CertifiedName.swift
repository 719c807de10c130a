import TransferCore

/// A host as certificates name it: an address, or a name in ASCII without the root's dot.
enum CertifiedName: Equatable {
    case address(IPAddress)
    case name(String)

    /// - Parameter host: As in a URL, in brackets or not.
    /// - Returns: `nil` for what no certificate can name.
    init?(_ host: String) {
        var text = Substring(host)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let address = IPAddress(text) {
            self = .address(address)
            return
        }
        // RFC 5890 §2.3.2.1: labels that aren't ASCII are compared in their encoded form.
        guard var name = try? HostName.asciiForm(of: text) else { return nil }
        if name.hasSuffix(".") { name.removeLast() }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels {
            guard !label.isEmpty, label.count <= 63,
                label.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "*") })
            else { return nil }
        }
        self = .name(name)
    }
}
