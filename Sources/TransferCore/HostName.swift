import CTransferIDN

/// Host names in the one form that goes over the wire: ASCII in lower case, with A-labels for labels of other letters
/// (UTS 46, RFC 5890 §2.3.2.1).
public enum HostName {
    /// Why a name has no such form, in words that don't repeat it.
    public struct Fault: Error, Hashable, CustomStringConvertible {
        public var description: String
    }

    /// The form of a host as URLs and people write it. Percent codes are decoded (RFC 3986 §3.2.2).
    ///
    /// Labels in ASCII stay as they are but for their case: rules for them (such as that of the hyphens) forbid names that
    /// exist.
    ///
    /// - Parameter host: Without brackets around an IPv6 address, which is given back as it is.
    public static func asciiForm(of host: some StringProtocol) throws(Fault) -> String {
        if isPlain(host) { return host.lowercased() }
        if host.utf8.contains(UInt8(ascii: ":")) { return host.lowercased() }
        guard let name = String(validating: PercentEncoding.decode(host), as: UTF8.self) else {
            throw Fault(description: "its percent codes aren't UTF-8")
        }
        var labels: [String] = []
        for label in name.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: isDot) {
            labels.append(try asciiForm(ofLabel: String(label)))
        }
        // The empty one at the end is the root.
        let named = labels.last == "" ? labels.dropLast() : labels[...]
        guard !named.isEmpty, !named.contains("") else { throw Fault(description: "a label is empty") }
        let form = labels.joined(separator: ".")
        guard form.utf8.count <= longestName + (named.count < labels.count ? 1 : 0) else {
            throw Fault(description: "it is longer than \(CountText.bytes(longestName))")
        }
        return form
    }

    /// The form, or the host itself in lower case where it has none: for names that are only compared.
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
        // The mapping makes `a/c` of `℀`: another host, or a part of the path.
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

    /// UTS 46 §4: the full stop, and the ideographic, fullwidth and halfwidth ones.
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        [0x2E, 0x3002, 0xFF0E, 0xFF61].contains(scalar.value)
    }

    /// Letters, digits and hyphens (RFC 952), and the underscore that names of services and machines have.
    private static func isOfNames(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Sharp s, final sigma, and the two joiners (UTS 46 §6).
    private static let deviations: [UInt32] = [0xDF, 0x1E9E, 0x3C2, 0x200C, 0x200D]

    /// RFC 1035 §2.3.4; a name without the root's dot.
    private static let longestLabel = 63
    private static let longestName = 253
}
