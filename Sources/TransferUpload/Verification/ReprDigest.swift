package import TransferCore

/// `Repr-Digest` (RFC 9530 §3).
package enum ReprDigest {
    /// The algorithms that aren't deprecated, the strongest first.
    private static let names: [(key: String, algorithm: DigestAlgorithm)] = [
        ("sha-512", .sha512), ("sha-256", .sha256),
    ]

    /// The field for a digest that is known; `nil` for algorithms that must not be used any more (§5).
    static func field(_ digest: Checksum) -> HeaderField? {
        guard let key = names.first(where: { $0.algorithm == digest.algorithm })?.key else { return nil }
        let digits = Array(digest.hex.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return HeaderField("Repr-Digest", "\(key)=:\(Base64.encode(bytes)):")
    }

    /// The digest that a server gives of the whole file beside its bytes: `Repr-Digest`, or `Content-Digest` where the
    /// answer is the whole (RFC 9530 §2 and §3). Algorithms that nobody should trust any more, and unknown ones, are none.
    ///
    /// - Returns: The strongest, with the field that has it.
    package static func ofFile(_ head: ResponseHead) -> (digest: Checksum, field: String)? {
        if let digest = value(head, preferred: nil) { return (digest, "Repr-Digest") }
        guard head.status == 200, let digest = value(head, "Content-Digest", preferred: nil) else { return nil }
        return (digest, "Content-Digest")
    }

    /// The request for a digest, by the algorithms that count here.
    package static let request = HeaderField("Want-Repr-Digest", "sha-256=10, sha-512=5")

    /// - Parameter preferred: Taken where the answer has it, because it can be compared.
    package static func value(
        _ head: ResponseHead, _ name: StaticString = "Repr-Digest", preferred: DigestAlgorithm?
    ) -> Checksum? {
        // Most answers have none.
        guard head.value(name) != nil, let field = ResumableFields.joined(head.fields, "\(name)"),
            StructuredField.dictionary(field) != nil
        else { return nil }
        let members = head.fields.filter { $0.isNamed("\(name)") }.map { StructuredField.dictionary($0.value) ?? [:] }
        let digests = names.compactMap { name -> Checksum? in
            let values = Set(
                members.compactMap { members in
                    if case .bytes(let bytes) = members[name.key] { bytes } else { nil }
                })
            // Two field lines that give different digests contradict each other.
            guard values.count == 1, let bytes = values.first else { return nil }
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return Checksum(name.algorithm, hex: hex)
        }
        return digests.first { $0.algorithm == preferred } ?? digests.first
    }
}
