public import TransferCore

/// The Content-Type of a request whose content is a file (RFC 9110 §8.3).
public enum FileType {
    /// Returns the field for a file's type.
    ///
    /// - Parameters:
    ///   - name: The file's name, without its folders. Where it suggests no type, the URL's last component counts.
    ///   - fields: The existing fields of the request; a type among them stays as it is.
    /// - Returns: `nil` where no type is known or the request must not have one.
    public static func field(for name: String, at url: String, beside fields: [HeaderField]) -> HeaderField? {
        guard fields.value("Content-Type") == nil,
            let type = FileMediaType.suggested(by: name, SafeFileName.fromURL(url)), !coversType(url)
        else { return nil }
        return HeaderField("Content-Type", type)
    }

    /// Returns whether the URL's signature covers Content-Type although the URL does not show it.
    ///
    /// The signature covers it in version 2 of AWS and of Google, and in version 1 of Alibaba's. A request with an
    /// unsigned type is refused.
    private static func coversType(_ url: String) -> Bool {
        guard let question = url.firstIndex(of: "?") else { return false }
        let names = Set(url[question...].dropFirst().split(separator: "&").map { $0.prefix { $0 != "=" }.lowercased() })
        return names.contains("signature") && !names.isDisjoint(with: signers)
    }

    private static let signers: Set<String> = ["awsaccesskeyid", "googleaccessid", "ossaccesskeyid"]
}
