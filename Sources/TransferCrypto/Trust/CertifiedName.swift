import TransferCore

/// A host in the form of certificates: an address, or a name in ASCII without the root's dot.
enum CertifiedName: Equatable {
    case address(IPAddress)
    case name(String)

    /// Creates the form of a host.
    ///
    /// - Parameter host: The host as in a URL, with or without brackets.
    /// - Returns: `nil` for a host that no certificate can name.
    init?(_ host: String) {
        var text = Substring(host)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let address = IPAddress(text) {
            self = .address(address)
            return
        }
        // Labels that are not ASCII are compared in their encoded form (RFC 5890 §2.3.2.1).
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
