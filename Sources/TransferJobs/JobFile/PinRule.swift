/// The rule for pins of public keys: `sha256/` and the 32 bytes of a digest in base 64 (RFC 7469 §2.4).
package enum PinRule {
    package static func refusal(of pin: String) -> String? {
        let prefix = "sha256/"
        let digest = pin.utf8.dropFirst(prefix.utf8.count)
        let isBase64 = digest.dropLast().allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return (character.isASCII && (character.isLetter || character.isNumber)) || character == "+"
                || character == "/"
        }
        guard pin.hasPrefix(prefix), digest.count == 44, digest.last == UInt8(ascii: "="), isBase64 else {
            return "not a pin; write \"sha256/\" and 44 characters of base 64"
        }
        return nil
    }
}
