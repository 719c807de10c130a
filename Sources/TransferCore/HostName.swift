import CTransferIDN

/// Host names in the only form that is sent: ASCII in lower case, with A-labels for labels of other letters (UTS 46,
/// RFC 5890 §2.3.2.1).
public enum HostName {
    /// The reason why a name has no such form; the text does not repeat the name.
    public struct Fault: Error, Hashable, CustomStringConvertible {
        /// The reason in words.
        public var description: String
    }

    /// Returns the form of a host as written in URLs and by people. Percent codes are decoded (RFC 3986 §3.2.2).
    ///
    /// The letters of ASCII labels are only converted to lower case. Further rules for them (such as the one for
    /// hyphens) forbid names that exist.
    ///
    /// - Parameter host: The host without brackets around an IPv6 address, which is returned unchanged apart from its
    ///   case.
    /// - Throws: ``Fault`` for a name without such a form.
    public static func asciiForm(of host: some StringProtocol) throws(Fault) -> String {
        if isPlain(host) { return host.lowercased() }
        if host.utf8.contains(UInt8(ascii: ":")) { return host.lowercased() }
        guard let name = String(validating: PercentEncoding.decode(host), as: UTF8.self) else {
            throw Fault(description: "its percent codes are not UTF-8")
        }
        var labels: [String] = []
        for label in name.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: isDot) {
            labels.append(try asciiForm(ofLabel: String(label)))
        }
        // An empty label at the end denotes the root.
        let named = labels.last == "" ? labels.dropLast() : labels[...]
        guard !named.isEmpty, !named.contains("") else { throw Fault(description: "a label is empty") }
        let form = labels.joined(separator: ".")
        guard form.utf8.count <= longestName + (named.count < labels.count ? 1 : 0) else {
            throw Fault(description: "it is longer than \(CountText.bytes(longestName))")
        }
        return form
    }

    /// Returns the form, or the host itself in lower case where it has none, for names that are only compared.
    public static func comparable(_ host: some StringProtocol) -> String {
        (try? asciiForm(of: host)) ?? host.lowercased()
    }

    private static func asciiForm(ofLabel label: String) throws(Fault) -> String {
        if label.isEmpty { return "" }
        guard !label.utf8.contains(0) else { throw Fault(description: "it has a zero byte") }
        var form = label.lowercased()
        if !label.utf8.allSatisfy({ $0 < 0x80 }) {
            form = try withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestLabel + 1) {
                room throws(Fault) -> String in
                let hasDeviations = label.unicodeScalars.contains { deviations.contains($0.value) }
                let code = transfer_idn_label(label, hasDeviations ? 1 : 0, room.baseAddress, room.count)
                guard code == 0, let start = room.baseAddress else {
                    throw Fault(description: String(cString: transfer_idn_words(code)))
                }
                return String(cString: start)
            }
        }
        // The mapping of `℀` is `a/c`, which would denote another host or a part of the path.
        guard form.utf8.allSatisfy(isOfNames) else {
            throw Fault(description: "it has a character that no host name may have")
        }
        guard form.utf8.count <= longestLabel else {
            throw Fault(description: "a label is longer than \(CountText.bytes(longestLabel))")
        }
        return form
    }

    static func isPlain(_ host: some StringProtocol) -> Bool {
        host.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") }
    }

    /// Returns whether a character separates labels: the full stop, or the ideographic, fullwidth or halfwidth one (UTS
    /// 46 §4).
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        [0x2E, 0x3002, 0xFF0E, 0xFF61].contains(scalar.value)
    }

    /// Returns whether a byte can be in a name: letters, digits and hyphens (RFC 952), and the underscore that services
    /// and machines use.
    private static func isOfNames(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The sharp s, the final sigma, and the two joiners (UTS 46 §6).
    private static let deviations: [UInt32] = [0xDF, 0x1E9E, 0x3C2, 0x200C, 0x200D]

    /// The maximum lengths (RFC 1035 §2.3.4), for a name without the root's dot.
    private static let longestLabel = 63
    private static let longestName = 253
}
