/// The rule for fingerprints of host keys, in the form that `ssh-keygen -lf` prints.
public enum HostKeyRule {
    /// Explains why a text is no fingerprint of a host key.
    ///
    /// - Returns: The reason in words; `nil` for a valid fingerprint.
    public static func refusal(of text: String) -> String? {
        let digest = text.utf8.dropFirst("SHA256:".utf8.count)
        let isBase64 = digest.allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return (character.isASCII && (character.isLetter || character.isNumber)) || character == "+"
                || character == "/"
        }
        guard text.hasPrefix("SHA256:"), digest.count == 43, isBase64 else {
            return "not a fingerprint; write \"SHA256:\" and 43 characters of base 64, as ssh-keygen -lf shows it"
        }
        return nil
    }
}
