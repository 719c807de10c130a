import TransferCore

/// The explanation of what makes a checksum invalid.
package enum ChecksumRule {
    package static func refusal(of text: String) -> String {
        let algorithms = Wording.alternatives(DigestAlgorithm.allCases.map(\.rawValue))
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else {
            return "not a checksum; write \"sha256:\" and 64 hexadecimal digits"
        }
        let name = text[..<separator]
        guard let algorithm = DigestAlgorithm(rawValue: name.lowercased().filter { $0 != "-" }) else {
            return "unknown algorithm \(Wording.quoted(name)); \(algorithms) are possible"
        }
        let digits = text[text.index(after: separator)...]
        let wanted = algorithm.byteCount * 2
        guard digits.allSatisfy(\.isHexDigit) else {
            return "a checksum holds hexadecimal digits only"
        }
        return "\(algorithm.rawValue) has \(wanted) hexadecimal digits, found \(digits.count)"
    }
}
